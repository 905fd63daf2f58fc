#include "trainer/eval/sampled.h"

#include <cmath>
#include <numeric>

#include "trainer/base/time_ratio.h"
#include "trainer/data/merge.h"

namespace placeto::train {

// A placement that exceeds memory counts as this many times all work on one device: "a large
// constant" where the paper's run fails.
constexpr double kFailure = 10;

Sampled::Point Sampled::best_within(uint64_t placements) const {
  Point best;
  for (const Point& point : curve) {
    if (point.placements > placements) break;
    if (point.best_us < best.best_us) best = point;
  }
  return best;
}

SampleJudge::SampleJudge(const Instance& instance, double decay)
    : instance_(instance), evaluator_(judged_problem(instance)), decay_(decay) {
  for (uint32_t v = 0; v < instance.problem->node_count(); ++v) {
    unit_us_ += instance.problem->mean_run_us(v);
  }
}

std::vector<float> SampleJudge::advantages(std::span<const Assignment> batch) {
  std::vector<float> all;
  for (const Assignment& assignment : batch) all.push_back(reward(assignment));
  count_ += batch.size();
  const double mean = std::accumulate(all.begin(), all.end(), 0.0) / double(all.size());
  sampled_.curve.push_back({count_, sampled_.makespan_us, mean});
  if (!begun_) baseline_ = mean;
  begun_ = true;
  for (float& reward : all) reward -= static_cast<float>(baseline_);
  baseline_ = decay_ * baseline_ + (1 - decay_) * mean;
  return all;
}

float SampleJudge::reward(const Assignment& assignment) {
  const Score score = judge(instance_, assignment, evaluator_);
  if (!score.feasible()) return static_cast<float>(-std::sqrt(kFailure));
  if (score.objective_us < sampled_.makespan_us) {
    sampled_.makespan_us = score.objective_us;
    sampled_.assignment = assignment;
  }
  return static_cast<float>(-std::sqrt(time_ratio(score.objective_us, unit_us_)));
}

}  // namespace placeto::train
