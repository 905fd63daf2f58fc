#include "trainer/eval/starts.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "runtime/policy/published/pass.h"
#include "tools/report/table.h"
#include "trainer/base/csv_field.h"
#include "trainer/base/parallel.h"
#include "trainer/base/time_ratio.h"
#include "trainer/data/course.h"
#include "trainer/eval/fit.h"
#include "trainer/eval/rnn_placer.h"
#include "trainer/published/episode.h"

namespace placeto::train {
namespace {

// What one graph gives; makespans over that of its best heuristic.
struct FromStarts {
  // Per policy and start: of the start, of what the passes end in, and how many steps they took.
  std::vector<std::array<std::array<double, 3>, 3>> policies;
  std::vector<Sampled::Point> rnn;  // makespans over the best heuristic's
};

std::optional<FromStarts> measure(Instance instance, std::span<const NamedPolicy> policies,
                                  const StartOptions& options) {
  // What is compared is how merged graphs are placed: the RNN, too, is rewarded for those.
  instance.merged = nullptr;
  const std::optional<Course> course = make_course(std::move(instance));
  if (!course) return std::nullopt;
  FromStarts m;
  for (const NamedPolicy& p : policies) {
    auto& of = m.policies.emplace_back();
    for (size_t k = 0; k < std::size(kStarts); ++k) {
      EpisodeOptions episode;
      episode.start = kStarts[k];
      episode.passes = options.passes;
      episode.sample = false;
      const Episode e = run_episode(*course, *p.policy, episode);
      of[k] = {e.cost.front(), e.best_cost, double(e.steps())};
    }
  }
  if (options.rnn_placements > 0) {
    SamplingOptions rnn;
    rnn.placements = options.rnn_placements;
    m.rnn = place_by_rnn(course->instance, rnn).curve;
    for (Sampled::Point& point : m.rnn) {
      point.best_us = time_ratio(point.best_us, course->reference_us);
    }
  }
  return m;
}

// Placements that the RNN sampled until it was as good; infinity if it never was.
double placements_to(const FromStarts& m, double ratio) {
  for (const auto& [sampled, best, _] : m.rnn) {
    if (best <= ratio) return double(sampled);
  }
  return std::numeric_limits<double>::infinity();
}

// The upper one of two middle values, for they may be infinite. There is a value.
double upper_median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

StartRow row_of(std::span<const FromStarts> graphs, size_t policy) {
  StartRow row;
  row.graphs = static_cast<uint32_t>(graphs.size());
  const double share = 1.0 / row.graphs;
  for (size_t k = 0; k < std::size(kStarts); ++k) {
    double start = 0, placed = 0;
    std::vector<double> placements;
    for (const FromStarts& m : graphs) {
      const auto& of = m.policies[policy][k];
      start += std::log(of[0]) * share;
      placed += std::log(of[1]) * share;
      row.steps[k] += of[2] * share;
      placements.push_back(placements_to(m, of[1]));
      row.reached[k] += std::isfinite(placements.back()) ? 1u : 0u;
    }
    row.start[k] = std::exp(start);
    row.placed[k] = std::exp(placed);
    row.rnn_placements[k] = upper_median(placements);
  }
  double rnn = 0;
  for (const FromStarts& m : graphs) rnn += m.rnn.empty() ? NAN : std::log(m.rnn.back().best_us);
  row.rnn = std::exp(rnn * share);
  return row;
}

std::string number(double value, const char* format) {
  return std::isfinite(value) ? fmt::format(fmt::runtime(format), value) : "-";
}

}  // namespace

Result<std::vector<StartRow>> measure_starts(std::span<const TestSet> sets,
                                             std::span<const NamedPolicy> policies,
                                             const StartOptions& options) {
  const auto check = [&](const Problem& problem) {
    for (const NamedPolicy& p : policies) {
      if (Status s = PublishedPlacer::check(*p.policy, problem); !s.ok()) return s.at(p.name);
    }
    return Status();
  };
  for (const TestSet& set : sets) {
    if (Status s = check_each(set, options.threads, check); !s.ok()) return s;
  }
  std::vector<StartRow> rows;
  for (const TestSet& set : sets) {
    const std::vector<FromStarts> graphs = parallel_collect<FromStarts>(
        static_cast<uint32_t>(set.problems.size()), options.threads,
        [&](uint32_t i) { return measure(set.problems[i](), policies, options); },
        options.on_progress);
    for (size_t p = 0; p < policies.size() && !graphs.empty(); ++p) {
      rows.push_back(row_of(graphs, p));
      rows.back().set = set.name;
      rows.back().policy = policies[p].name;
    }
  }
  return rows;
}

std::string starts_table(std::span<const StartRow> rows) {
  Table table({{"set", Align::kLeft},
               {"graphs", Align::kRight},
               {"policy", Align::kLeft},
               {"from", Align::kLeft},
               {"start", Align::kRight},
               {"placed", Align::kRight},
               {"steps", Align::kRight},
               {"rnn", Align::kRight},
               {"rnn as good on", Align::kRight},
               {"after (median)", Align::kRight}});
  for (const StartRow& r : rows) {
    for (size_t k = 0; k < std::size(kStartNames); ++k) {
      table.add_row(
          {r.set, std::to_string(r.graphs), r.policy, kStartNames[k], number(r.start[k], "{:.3f}"),
           number(r.placed[k], "{:.3f}"), number(r.steps[k], "{:.0f}"), number(r.rnn, "{:.3f}"),
           std::isfinite(r.rnn) ? std::to_string(r.reached[k]) : "-",
           number(r.rnn_placements[k], "{:.0f}")},
          Emphasis::kNone);
    }
  }
  return table.render();
}

std::string starts_csv(std::span<const StartRow> rows) {
  std::string text = "set,graphs,policy,from,start,placed,steps,rnn,rnn_reached,rnn_placements\n";
  for (const StartRow& r : rows) {
    for (size_t k = 0; k < std::size(kStartNames); ++k) {
      text += fmt::format("{},{},{},{},{:.6g},{:.6g},{:.6g},{:.6g},{},{}\n", r.set, r.graphs,
                          csv_field(r.policy), kStartNames[k], r.start[k], r.placed[k], r.steps[k],
                          r.rnn, r.reached[k], r.rnn_placements[k]);
    }
  }
  return text;
}

}  // namespace placeto::train
