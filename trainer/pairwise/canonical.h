// Placements that differ only in the names of equal devices are the same placement; a policy that
// imitates one of them must not be asked to guess the names.
#pragma once

#include <span>

#include "runtime/cost/problem.h"
#include "runtime/heuristics/method.h"

namespace placeto::train {

// True if any two devices can change places: equal devices, linked alike, and no group may run on
// some but not on others.
bool devices_alike(const Problem& problem);

// `placed` with its devices renamed so that it has as much run time as possible, by greedy
// matching, where `like` has it. The same placement for the cost model if the devices are alike.
Assignment renamed_like(const Problem& problem, std::span<const uint32_t> placed,
                        std::span<const uint32_t> like);

}  // namespace placeto::train
