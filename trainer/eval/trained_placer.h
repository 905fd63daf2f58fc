// The published method on the one graph that it is to place, as the paper's table has it: a policy
// of the published architecture, from drawn weights, trained by `reinforce` as the recipes in
// models/ do it: the published loss with its entropy bonus, rewards discounted by 0.9
// (trainer/README.md). Every step of an episode samples a placement.
//
// Episodes start from one device or at random: what a heuristic knows is not for it.
#pragma once

#include "trainer/eval/sampled.h"

namespace placeto::train {

struct OneGraphOptions {
  uint64_t placements = 1'000'000;  // sampled in all, rounded up to whole iterations
  uint64_t seed = 1;
};

// The instance's groups are what is decided. Fails where no heuristic fits the memory.
Result<Sampled> place_by_training(const Instance& instance, const OneGraphOptions& options);

}  // namespace placeto::train
