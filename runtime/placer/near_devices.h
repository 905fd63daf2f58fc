// Devices with fast links among each other, such as those of one host of several. Where traffic
// between hosts takes long, what list schedules make of all devices may be far worse than what they
// make of one host's.
#pragma once

#include <cstdint>
#include <vector>

#include "runtime/cost/problem.h"

namespace placeto {

// Of the sets of devices that links slower by half or more keep apart, the one that computes the
// fastest, ascending; of several scales (devices on hosts, hosts in racks) the one at which links
// differ most. Empty where no links do, where each device is a set of its own, of more devices than
// 64, whose links take long to copy, and once stopped.
std::vector<uint32_t> near_devices(const Problem& problem, Stop* stop);

}  // namespace placeto
