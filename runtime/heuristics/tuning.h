// What passes of heuristics are tuned by. The measurements behind the numbers:
// tests/bench/results/tuning.md.
#pragma once

#include <cstdint>

namespace placeto::tuning {

// Share of the passes that start from the best placement of their chain instead of its last.
inline constexpr double kFromBest = 0.3;

// What a pass weighs is drawn: only finishes, transfers with a weight in [0, 1), or else lateness
// with a weight in [kLeastFinishWeight, kLeastFinishWeight + kFinishWeights) on the finish.
inline constexpr double kFinishShare = 0.25, kTransfersShare = 0.4;
inline constexpr double kLeastFinishWeight = 0.3, kFinishWeights = 1.5;

// In a window: nodes placed before its lateness is first looked at. From there on, each look is
// half as far again.
inline constexpr uint32_t kFirstLook = 8;

}  // namespace placeto::tuning
