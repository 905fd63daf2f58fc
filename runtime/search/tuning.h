// What `iterate`, passes over windows and those of promising moves are tuned by. The measurements
// behind the numbers: tests/bench/results/tuning.md.
#pragma once

#include <algorithm>
#include <cstdint>

namespace placeto::tuning {

// `iterate` makes as many passes as asked for on graphs of up to kAllPasses nodes, and
// kWindowsPerPass windows for each of them, and one more for every kNodesPerWindow nodes, on those
// of up to kAllWindows; fewer on larger ones, by the square root. Windows are a better use of time
// than passes, the more so the larger the graph.
inline constexpr uint32_t kAllPasses = 160, kAllWindows = 1'500;
inline constexpr uint64_t kWindowsPerPass = 8;
inline constexpr uint32_t kNodesPerWindow = 400;

// Promising moves are looked for on levels of kLeastGroups groups at least, and of kMostInGroup
// nodes each at most: larger groups hardly ever gain. What is decided on a level is simulated in
// kMostBatches, in fewer on graphs of more than kBatchedNodes / kMostBatches nodes.
inline constexpr uint32_t kLeastGroups = 32, kMostInGroup = 100;
inline constexpr uint32_t kMostBatches = 3, kBatchedNodes = 6'000;

inline bool promises_on_level(uint32_t groups, uint32_t nodes) {
  return groups >= std::max(kLeastGroups, nodes / kMostInGroup);
}
inline uint32_t promise_batches(uint32_t nodes) {
  return std::clamp(kBatchedNodes / nodes, 1u, kMostBatches);
}

// Nodes in a window: at least kLeastWindow, small ones more often, at most kMostShare of a small
// graph, kLargeMost and kLargeShare of a large one, where more proposals pay better than longer
// ones.
inline constexpr double kLeastWindow = 8, kMostShare = 0.3, kLargeMost = 60, kLargeShare = 0.1;

// How many windows are drawn for one proposal: one for every kNodesPerDraw nodes, at most
// kMostDraws. On small graphs placing one takes as long as an evaluation; on large ones it pays to
// choose. More than three cost more than they gain.
inline constexpr uint32_t kNodesPerDraw = 100, kMostDraws = 3;

inline uint32_t window_draws(uint32_t nodes) {
  return std::clamp(nodes / kNodesPerDraw, 1u, kMostDraws);
}

}  // namespace placeto::tuning
