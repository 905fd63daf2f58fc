// The published method on the one graph that it is to place, as the paper's table has it: a policy
// of the published architecture, from drawn weights, trained by `reinforce` with nothing but the
// published loss. Every step of an episode samples a placement.
//
// Episodes start from one device or at random: what a heuristic knows is not for it.
#pragma once

#include "trainer/eval/sampled.h"

namespace placeto::train {

struct TrainedOptions {
  uint64_t placements = 1'000'000;  // sampled in all, rounded up to whole iterations
  uint64_t seed = 1;
};

// The instance's groups are what is decided. Nothing is sampled where no heuristic fits the memory.
Sampled place_by_training(const Instance& instance, const TrainedOptions& options);

}  // namespace placeto::train
