#include "trainer/eval/equal_time.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include <fmt/format.h>

#include "runtime/placer/placer.h"
#include "tools/report/table.h"
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

struct ByBudget {
  std::vector<TimedMakespan> with, without;    // per budget
  std::vector<TimedMakespan> without_by_time;  // the same and a longer one, by ascending time
};

std::optional<ByBudget> measure(const Problem& problem, const Policy& policy,
                                const EqualTimeOptions& options) {
  ByBudget m;
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

// Mean and half the width of its 95% interval (normal; problems are many).
std::pair<double, double> mean_and_interval(std::span<const double> values) {
  double mean = 0, squares = 0;
  const auto n = double(values.size());
  for (const double v : values) mean += v / n;
  for (const double v : values) squares += (v - mean) * (v - mean);
  return {mean, n > 1 ? 1.96 * std::sqrt(squares / (n - 1) / n) : 0};
}

EqualTimeRow row_of(std::span<const ByBudget> all, size_t b) {
  EqualTimeRow row;
  row.problems = static_cast<uint32_t>(all.size());
  std::vector<double> at_equal_time, at_equal_evaluations;
  for (const ByBudget& m : all) {
    const TimedMakespan& with = m.with[b];
    row.with_ms += with.milliseconds / row.problems;
    row.without_ms += m.without[b].milliseconds / row.problems;
    at_equal_evaluations.push_back(log_ratio(with.makespan_us, m.without[b].makespan_us));
    at_equal_time.push_back(log_time(with.makespan_us) -
                            log_makespan_at(m.without_by_time, with.milliseconds));
  }
  row.equal_evaluations = std::exp(mean_and_interval(at_equal_evaluations).first);
  const auto [mean, half] = mean_and_interval(at_equal_time);
  row.ratio = std::exp(mean);
  row.least = std::exp(mean - half);
  row.most = std::exp(mean + half);
  return row;
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

Result<std::vector<EqualTimeRow>> measure_equal_time(std::span<const TestSet> sets,
                                                     const Policy& policy,
                                                     const EqualTimeOptions& options) {
  for (const TestSet& set : sets) {
    const auto check = [&](const Problem& problem) { return check_fits(policy, problem); };
    if (Status s = check_each(set, options.threads, check); !s.ok()) return s;
  }
  std::vector<EqualTimeRow> rows;
  for (const TestSet& set : sets) {
    const std::vector<ByBudget> all = parallel_collect<ByBudget>(
        static_cast<uint32_t>(set.problems.size()), options.threads,
        [&](uint32_t i) { return measure(*set.problems[i]().problem, policy, options); },
        options.on_progress);
    for (size_t b = 0; b < options.budgets.size() && !all.empty(); ++b) {
      rows.push_back(row_of(all, b));
      rows.back().set = set.name;
      rows.back().budget = options.budgets[b];
    }
  }
  return rows;
}

std::string equal_time_table(std::span<const EqualTimeRow> rows, bool color) {
  Table table({{"set", Align::kLeft},
               {"problems", Align::kRight},
               {"evaluations", Align::kRight},
               {"ms without", Align::kRight},
               {"ms with", Align::kRight},
               {"equal evaluations", Align::kRight},
               {"equal time", Align::kRight},
               {"95% interval", Align::kRight}});
  for (const EqualTimeRow& r : rows) {
    table.add_row({r.set, std::to_string(r.problems), std::to_string(r.budget),
                   fmt::format("{:.2f}", r.without_ms), fmt::format("{:.2f}", r.with_ms),
                   fmt::format("{:.4f}", r.equal_evaluations), fmt::format("{:.4f}", r.ratio),
                   fmt::format("{:.4f} to {:.4f}", r.least, r.most)},
                  r.most < 1 ? Emphasis::kStrong : Emphasis::kNone);
  }
  return table.render(color);
}

std::string equal_time_csv(std::span<const EqualTimeRow> rows) {
  std::string text =
      "set,problems,evaluations,without_ms,with_ms,equal_evaluations,equal_time,least,most\n";
  for (const EqualTimeRow& r : rows) {
    text += fmt::format("{},{},{},{:.4g},{:.4g},{:.6g},{:.6g},{:.6g},{:.6g}\n", r.set, r.problems,
                        r.budget, r.without_ms, r.with_ms, r.equal_evaluations, r.ratio, r.least,
                        r.most);
  }
  return text;
}

}  // namespace placeto::train
