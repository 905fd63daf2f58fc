#include "trainer/eval/pareto.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "runtime/placer/placer.h"
#include "tools/report/table.h"
#include "trainer/base/time_ratio.h"
#include "trainer/data/problems.h"
#include "trainer/eval/figure.h"
#include "trainer/eval/fit.h"

namespace placeto::train {
namespace {

constexpr uint64_t kFirst = 3'000'000;  // number of the first problem
constexpr double kBetter = 0.9999;

struct Timed {
  double makespan_us = 0, milliseconds = 0;
};

Timed timed_run(const Problem& problem, double budget_ms, const Policy* policy) {
  MethodOptions options;
  options.budget.milliseconds = budget_ms;
  const Result<PlaceResult> placed = place_auto(problem, options, {.policy = policy});
  if (!placed.ok()) return {std::numeric_limits<double>::infinity(), budget_ms};
  return {placed->best.score.objective_us, placed->place_us / 1'000};
}

Instance problem_of(uint32_t nodes, uint32_t i) {
  DataConfig data;
  data.min_nodes = data.max_nodes = data.large_nodes = nodes;
  data.network_share = data.memory_share = 0;
  return draw_problem(data, problem_seed(Split::kTest, 0, kFirst + uint64_t{nodes} * 100 + i));
}

class Measurement {
 public:
  Measurement(const Policy& policy, const ParetoOptions& options, uint32_t nodes)
      : policy_(policy), options_(options) {
    for (const double budget : options.budgets_ms) {
      points_.push_back({nodes, budget, false, 0, 0, 0});
      points_.push_back({nodes, budget, true, 0, 0, 0});
    }
  }

  void add(const Problem& problem) {
    std::vector<Timed> runs;
    for (const ParetoPoint& p : points_) {
      runs.push_back(timed_run(problem, p.budget_ms, p.policy ? &policy_ : nullptr));
    }
    double best = std::min(timed_run(problem, options_.best_known_ms, nullptr).makespan_us,
                           timed_run(problem, options_.best_known_ms, &policy_).makespan_us);
    for (const Timed& r : runs) best = std::min(best, r.makespan_us);
    for (size_t i = 0; i < runs.size(); ++i) {
      const double share = 1.0 / options_.problems;
      points_[i].ratio += log_ratio(runs[i].makespan_us, best) * share;
      points_[i].milliseconds += runs[i].milliseconds * share;
      points_[i].won += runs[i].makespan_us < kBetter * runs[i ^ 1].makespan_us ? 1 : 0;
    }
  }

  std::vector<ParetoPoint> finish() {
    for (ParetoPoint& p : points_) p.ratio = std::exp(p.ratio);
    return std::move(points_);
  }

 private:
  const Policy& policy_;
  const ParetoOptions& options_;
  std::vector<ParetoPoint> points_;  // pairs: without, with
};

const char* name_of(const ParetoPoint& p) {
  return p.policy ? "policy + search" : "heuristics + search";
}

}  // namespace

Result<std::vector<ParetoPoint>> measure_pareto(const Policy& policy,
                                                const ParetoOptions& options) {
  for (const uint32_t nodes : options.nodes) {
    for (uint32_t i = 0; i < options.problems; ++i) {
      if (Status s = check_fits(policy, *problem_of(nodes, i).problem); !s.ok()) return s;
    }
  }
  std::vector<ParetoPoint> all;
  const auto total = static_cast<uint32_t>(options.nodes.size()) * options.problems;
  uint32_t done = 0;
  for (const uint32_t nodes : options.nodes) {
    Measurement measurement(policy, options, nodes);
    for (uint32_t i = 0; i < options.problems; ++i) {
      measurement.add(*problem_of(nodes, i).problem);
      if (options.on_progress) options.on_progress(++done, total);
    }
    for (const ParetoPoint& p : measurement.finish()) all.push_back(p);
  }
  return all;
}

std::string pareto_table(std::span<const ParetoPoint> points) {
  Table table({{"nodes", Align::kRight},
               {"budget ms", Align::kRight},
               {"method", Align::kLeft},
               {"took ms", Align::kRight},
               {"ratio", Align::kRight},
               {"better on", Align::kRight}});
  for (const ParetoPoint& p : points) {
    table.add_row({std::to_string(p.nodes), fmt::format("{:g}", p.budget_ms), name_of(p),
                   fmt::format("{:.2f}", p.milliseconds), fmt::format("{:.4f}", p.ratio),
                   std::to_string(p.won)},
                  p.policy ? Emphasis::kStrong : Emphasis::kNone);
  }
  return table.render();
}

std::string pareto_csv(std::span<const ParetoPoint> points) {
  std::string text = "nodes,budget_ms,method,took_ms,ratio,better_on\n";
  for (const ParetoPoint& p : points) {
    text += fmt::format("{},{:g},{},{:.4g},{:.6g},{}\n", p.nodes, p.budget_ms, name_of(p),
                        p.milliseconds, p.ratio, p.won);
  }
  return text;
}

std::string pareto_svg(std::span<const ParetoPoint> points) {
  std::vector<LineFigure> figures;
  for (const ParetoPoint& p : points) {
    const std::string title = fmt::format("{} nodes", p.nodes);
    if (figures.empty() || figures.back().title != title) {
      figures.push_back({title,
                         {"time taken, ms", p.milliseconds, p.milliseconds, true, "{:g}"},
                         {"makespan / best known", 1, 1.02, false, "{:.3f}"},
                         {{.name = "heuristics + search", .points = {}, .marks = true},
                          {.name = "policy + search", .points = {}, .marks = true}}});
    }
    LineFigure& figure = figures.back();
    figure.lines[p.policy ? 1 : 0].points.push_back({p.milliseconds, p.ratio});
    figure.x.least = std::min(figure.x.least, p.milliseconds * 0.8);
    figure.x.most = std::max(figure.x.most, p.milliseconds * 1.2);
    figure.y.most = std::max(figure.y.most, p.ratio + 0.005);
  }
  return draw(figures);
}

}  // namespace placeto::train
