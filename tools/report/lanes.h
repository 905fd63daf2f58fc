// Rows for transfers: one per channel that carries something, and more where transfers of one
// channel overlap in time (contention none).
#pragma once

#include <string>
#include <vector>

#include "runtime/cost/simulator.h"

namespace placeto {

struct Lanes {
  std::vector<std::string> names;     // by channel, then in order of first use
  std::vector<uint32_t> of_transfer;  // Timeline::transfers -> lane
};

// Transfers of one lane do not overlap.
Lanes transfer_lanes(const Topology& topology, const Timeline& timeline);

}  // namespace placeto
