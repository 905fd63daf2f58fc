// What no good placement cuts belongs together: merging what two parents have in common is how
// multilevel partitioners combine them (Sanders and Schulz, "Distributed evolutionary graph
// partitioning", ALENEX 2012).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "runtime/cost/problem.h"

namespace placeto {

// The part that each of the problem's groups is in: edges within one device, in all of
// `placements`, hold parts together (the backbone of the placements). Empty if there are no
// placements, or if stopped.
std::vector<uint32_t> uncut_parts(const Problem& problem,
                                  std::span<const std::span<const uint32_t>> placements,
                                  Stop* stop);

}  // namespace placeto
