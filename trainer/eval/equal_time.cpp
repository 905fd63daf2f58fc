#include "trainer/eval/equal_time.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "runtime/placer/placer.h"
#include "tools/io/json_text.h"
#include "tools/report/table.h"
#include "trainer/base/interval.h"
#include "trainer/base/time_ratio.h"
#include "trainer/eval/fit.h"
#include "trainer/eval/processor_time.h"

namespace placeto::train {
namespace {

// The longest run without the policy has so many times the largest budget, for a policy's run takes
// longer than one without it.
constexpr uint64_t kLongest = 3;

std::optional<TimedMakespan> place_once(const Problem& problem, uint64_t evaluations,
                                        const Policy* policy) {
  MethodOptions options;
  options.budget.evaluations = evaluations;
  const ProcessorTime watch;
  const Result<PlaceResult> placed = place_auto(problem, options, {.policy = policy});
  const double milliseconds = watch.milliseconds();
  if (!placed.ok()) return std::nullopt;
  return TimedMakespan{milliseconds, placed->best.score.objective_us};
}

std::optional<EqualTimeRuns> measure(const Problem& problem, const Policy& policy,
                                     const EqualTimeOptions& options) {
  EqualTimeRuns m;
  place_once(problem, 0, &policy);  // what is done once for a process should not count
  for (const uint64_t budget : options.budgets) {
    for (const Policy* p : {static_cast<const Policy*>(nullptr), &policy}) {
      const auto run = place_once(problem, budget, p);
      if (!run) return std::nullopt;
      (p == nullptr ? m.without : m.with).push_back(*run);
    }
  }
  m.without_by_time = m.without;
  if (const auto last = place_once(problem, options.budgets.back() * kLongest, nullptr)) {
    m.without_by_time.push_back(*last);
  }
  std::sort(m.without_by_time.begin(), m.without_by_time.end(),
            [](const auto& a, const auto& b) { return a.milliseconds < b.milliseconds; });
  return m;
}

// The mean of each graph's values.
std::vector<double> means_of_graphs(std::span<const EqualTimeRuns> problems,
                                    std::span<const double> values) {
  struct Sum {
    double sum = 0, count = 0;
  };
  std::map<uint32_t, Sum> sums;
  for (size_t i = 0; i < values.size(); ++i) {
    Sum& of_graph = sums[problems[i].graph];
    of_graph.sum += values[i];
    of_graph.count += 1;
  }
  std::vector<double> means;
  for (const auto& [graph, of_graph] : sums) means.push_back(of_graph.sum / of_graph.count);
  return means;
}

}  // namespace

double log_makespan_at(std::span<const TimedMakespan> runs, double milliseconds) {
  size_t i = 0;
  while (i < runs.size() && runs[i].milliseconds < milliseconds) ++i;
  if (i == 0) return log_time(runs.front().makespan_us);
  if (i == runs.size()) return log_time(runs.back().makespan_us);
  const TimedMakespan &a = runs[i - 1], &b = runs[i];
  const double share =
      std::log(milliseconds / a.milliseconds) / std::log(b.milliseconds / a.milliseconds);
  return log_time(a.makespan_us) + share * log_ratio(b.makespan_us, a.makespan_us);
}

EqualTimeRow equal_time_row(std::span<const EqualTimeRuns> problems, size_t budget) {
  EqualTimeRow row;
  row.problems = static_cast<uint32_t>(problems.size());
  std::vector<double> at_equal_time, at_equal_evaluations;
  for (const EqualTimeRuns& m : problems) {
    const TimedMakespan &with = m.with[budget], &without = m.without[budget];
    row.beyond += with.milliseconds > m.without_by_time.back().milliseconds ? 1u : 0u;
    row.with_ms += with.milliseconds / row.problems;
    row.without_ms += without.milliseconds / row.problems;
    at_equal_evaluations.push_back(log_ratio(with.makespan_us, without.makespan_us));
    at_equal_time.push_back(log_time(with.makespan_us) -
                            log_makespan_at(m.without_by_time, with.milliseconds));
  }
  const std::vector<double> of_graphs = means_of_graphs(problems, at_equal_time);
  row.graphs = static_cast<uint32_t>(of_graphs.size());
  const auto [mean, half_width] = mean_interval(of_graphs);
  row.ratio = std::exp(mean);
  row.least = std::exp(mean - half_width);
  row.most = std::exp(mean + half_width);
  row.equal_evaluations =
      std::exp(mean_interval(means_of_graphs(problems, at_equal_evaluations)).mean);
  return row;
}

Result<std::vector<EqualTimeRow>> measure_equal_time(std::span<const TestSet> sets,
                                                     const Policy& policy,
                                                     const EqualTimeOptions& options,
                                                     size_t* sets_done) {
  const auto stopped = [&] { return options.stop != nullptr && options.stop->load(); };
  for (const TestSet& set : sets) {
    const auto check = [&](const Problem& problem) { return check_fits(policy, problem); };
    if (Status s = check_each(set, options.threads, check); !s.ok()) return s;
  }
  std::vector<EqualTimeRow> rows;
  for (const TestSet& set : sets) {
    const std::vector<EqualTimeRuns> all = parallel_collect<EqualTimeRuns>(
        static_cast<uint32_t>(set.problems.size()), options.threads,
        [&](uint32_t i) -> std::optional<EqualTimeRuns> {
          if (stopped()) return std::nullopt;
          auto runs = measure(*set.problems[i]().problem, policy, options);
          if (runs) runs->graph = i / set.per_graph;
          return runs;
        },
        options.on_progress);
    if (stopped()) break;
    if (sets_done != nullptr) ++*sets_done;
    for (size_t b = 0; b < options.budgets.size() && !all.empty(); ++b) {
      rows.push_back(equal_time_row(all, b));
      rows.back().set = set.name;
      rows.back().budget = options.budgets[b];
    }
  }
  return rows;
}

std::string equal_time_table(std::span<const EqualTimeRow> rows) {
  Table table({{"set", Align::kLeft},
               {"problems", Align::kRight},
               {"graphs", Align::kRight},
               {"evaluations", Align::kRight},
               {"ms without", Align::kRight},
               {"ms with", Align::kRight},
               {"equal evaluations", Align::kRight},
               {"equal time", Align::kRight},
               {"95% interval", Align::kRight}});
  for (const EqualTimeRow& r : rows) {
    table.add_row(
        {r.set, std::to_string(r.problems), std::to_string(r.graphs), std::to_string(r.budget),
         fmt::format("{:.2f}", r.without_ms), fmt::format("{:.2f}", r.with_ms),
         fmt::format("{:.4f}", r.equal_evaluations), fmt::format("{:.4f}", r.ratio),
         r.graphs > 1 ? fmt::format("{:.4f} to {:.4f}", r.least, r.most) : "-"},
        r.most < 1 ? Emphasis::kStrong : Emphasis::kNone);
  }
  std::string text = table.render();
  for (const EqualTimeRow& r : rows) {
    if (r.beyond == 0) continue;
    text += fmt::format(
        "{}, {} evaluations: on {} of {} problems the policy took longer than the longest run "
        "without it, with which it is compared there\n",
        r.set, r.budget, r.beyond, r.problems);
  }
  return text;
}

// Without an interval its columns are empty.
std::string equal_time_csv(std::span<const EqualTimeRow> rows) {
  std::string text =
      "set,problems,evaluations,without_ms,with_ms,equal_evaluations,equal_time,least,most,graphs,"
      "beyond\n";
  for (const EqualTimeRow& r : rows) {
    const std::string interval = r.graphs > 1 ? fmt::format("{:.6g},{:.6g}", r.least, r.most) : ",";
    text += fmt::format("{},{},{},{:.4g},{:.4g},{:.6g},{:.6g},{},{},{}\n", r.set, r.problems,
                        r.budget, r.without_ms, r.with_ms, r.equal_evaluations, r.ratio, interval,
                        r.graphs, r.beyond);
  }
  return text;
}

std::string equal_time_json(std::span<const EqualTimeRow> rows) {
  nlohmann::ordered_json json;
  json["ratio"] = "makespan with the policy over makespan without it, geometric mean over graphs";
  json["rows"] = nlohmann::ordered_json::array();
  for (const EqualTimeRow& r : rows) {
    nlohmann::ordered_json row = {{"set", r.set},
                                  {"problems", r.problems},
                                  {"graphs", r.graphs},
                                  {"evaluations", r.budget},
                                  {"without_ms", r.without_ms},
                                  {"with_ms", r.with_ms},
                                  {"equal_evaluations", r.equal_evaluations},
                                  {"equal_time", r.ratio},
                                  {"interval", nullptr}};
    row["beyond_longest"] = r.beyond;
    if (r.graphs > 1) row["interval"] = {r.least, r.most};
    json["rows"].push_back(std::move(row));
  }
  return json_text(json, 2) + "\n";
}

}  // namespace placeto::train
