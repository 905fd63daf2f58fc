// What a predicted run waited for, from its last finish back to its first start.
#pragma once

#include <span>
#include <vector>

#include "runtime/cost/simulator.h"

namespace placeto {

// A chain of nodes and transfers in which each one starts when, or a gap after, the one before it
// ends: shortening any other node cannot shorten the run.
struct CriticalPath {
  std::vector<uint32_t> nodes;      // in time order
  std::vector<uint32_t> transfers;  // indices into Timeline::transfers, in time order
};

CriticalPath critical_path(const Problem& problem, std::span<const uint32_t> assignment,
                           const Timeline& timeline);

}  // namespace placeto
