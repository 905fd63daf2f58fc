// Leaps: all groups moved at once, for what no sequence of moves reaches of which each gains.
#include <algorithm>

#include "runtime/heuristics/best_met.h"
#include "runtime/policy/pairwise/pass.h"

namespace placeto {

Candidate PairwisePlacer::leap(const Candidate& start, MoveEvaluator& evaluator) {
  Stop* const stop = evaluator.stop();
  Candidate leapt = begin_at(start, "policy", evaluator);
  if (stopped(stop)) return leapt;
  state_.refresh(evaluator);
  scorer_.embed(state_, stop);
  changes_.clear();
  for (uint32_t group = 0; group < hierarchy_->group_count(0) && !spend(stop, 1); ++group) {
    features_.begin(state_, 0, group);
    const auto devices = features_.candidates();
    spend(stop, pairwise::kWorkPerScore * devices.size());
    if (devices.empty()) continue;
    const std::span<const float> scores = scorer_.score_leap(features_, devices);
    const auto best = std::max_element(scores.begin(), scores.end());
    if (!(*best > 0)) continue;
    const uint32_t device = devices[static_cast<size_t>(best - scores.begin())];
    for (const uint32_t v : watched(hierarchy_->nodes(0, group), stop)) {
      if (leapt.assignment[v] != device) changes_.push_back({v, device});
    }
  }
  if (stopped(stop) || changes_.empty()) return leapt;
  const Score score = evaluator.evaluate(changes_);
  if (stopped(stop)) return leapt;
  evaluator.accept();
  leapt.take(evaluator.assignment(), score);
  return leapt;
}

}  // namespace placeto
