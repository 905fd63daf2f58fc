// What the passes of a `pairwise` policy are tuned by. The measurements behind the numbers:
// tests/bench/results/tuning.md.
#pragma once

#include <algorithm>
#include <cstdint>

namespace placeto::pairwise {

// Up to so many nodes kManyPasses pay, beyond it one: the checks of decisions are spread over all
// of them, and on larger graphs there are too few to share.
inline constexpr uint32_t kManyPassesBelow = 300, kManyPasses = 3;

// From so many nodes on, levels of fewer than kLeastGroups groups are left out, but for the finest:
// moves by the estimate (search/promising_moves.h) have been there, and scoring them again gains
// less than its time.
inline constexpr uint32_t kAllLevelsBelow = 300, kLeastGroups = 800;

inline bool scores_level(uint32_t level, uint32_t groups, uint32_t nodes) {
  return level == 0 || nodes < kAllLevelsBelow || groups >= kLeastGroups;
}

// The score that a move needs to be tried. Moves are checked, so trying a doubtful one costs an
// evaluation, no more; the larger the graph, the more that is, and the more windows of heuristics
// would gain in its time. From kLeastScore it rises with the square of the thousands of nodes, up
// to one thousand, by kLeastScoreRise.
inline constexpr float kLeastScore = -0.0025f, kLeastScoreRise = 0.0045f;

inline float least_score(uint32_t nodes) {
  const float thousands = static_cast<float>(std::min(nodes, 1'000u)) / 1'000;
  return kLeastScore + kLeastScoreRise * thousands * thousands;
}

// Simulated nodes that the checks of kManyPasses passes may cost: about 600 evaluations of 100
// nodes, 60 of 1,000. A level's decisions are checked in kLeastBatches to kMostBatches: on small
// graphs nearly one by one.
inline constexpr uint32_t kEvaluationWork = 60'000, kLeastBatches = 2, kMostBatches = 32;

inline uint32_t batches_per_level(uint32_t nodes, uint32_t levels, uint32_t passes) {
  const uint32_t checks = levels * std::clamp(passes, 1u, kManyPasses);
  return std::clamp(kEvaluationWork / nodes / checks, kLeastBatches, kMostBatches);
}

// Softmax of drawn placements. Scores are changes of the logarithm of the makespan, a few
// thousandths as a rule.
inline constexpr float kTemperature = 0.002f;

// Stop::spend of scoring one device: the head's layers.
inline constexpr uint64_t kWorkPerScore = 16;

}  // namespace placeto::pairwise
