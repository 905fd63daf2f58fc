// Episodes of an iteration of `placeto`, several on one graph from one start, and what is computed
// of all of them: means, advantages, the scale of exact gains.
#pragma once

#include <cstdint>
#include <vector>

#include "trainer/algorithms/reinforce.h"
#include "trainer/base/config.h"
#include "trainer/published/episode.h"
#include "trainer/train/distributed.h"

namespace placeto::train {

// In the order of Start.
inline constexpr Start kStarts[] = {Start::kHeuristic, Start::kSingle, Start::kRandom};

// Episodes on one graph from one start.
struct EpisodeGroup {
  uint32_t course = 0;
  Start start = Start::kHeuristic;
  uint64_t start_seed = 0;
  std::vector<Episode> episodes;
  std::vector<std::vector<float>> advantages;  // one list per episode
};

struct Totals {
  double steps = 0, last_cost = 0, best_cost = 0, decrease = 0;  // means over episodes but steps
};
Totals total(const std::vector<EpisodeGroup>& groups);

// By the algorithm of the configuration. `baseline` is of `reinforce`, and learns the returns.
void find_advantages(std::vector<EpisodeGroup>& groups, const Config& config, Baseline& baseline);

// Scales the exact gains of an iteration to unit mean square: one step's is a small part of what an
// episode decreases. `hosts` may be null.
Status scale_gains(std::vector<EpisodeGroup>& groups, Hosts* hosts);

}  // namespace placeto::train
