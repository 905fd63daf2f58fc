// Devices with fast links among each other, such as those of one host of several. Where traffic
// between hosts takes long, what list schedules make of all devices may be far worse than what they
// make of one host's.
#pragma once

#include <cstdint>
#include <vector>

#include "runtime/cost/problem.h"

namespace placeto {

// Each ascending.
using DeviceSets = std::vector<std::vector<uint32_t>>;

// The sets of two devices or more that links slower by more than half keep apart, at each scale at
// which they do, the largest scale first (hosts in racks before devices on hosts); of a scale the
// set first that computes the fastest, counting what rules allow. Empty where no links do, of more
// devices than 64, whose links take long to copy, and once stopped.
std::vector<DeviceSets> near_devices(const Problem& problem, Stop* stop);

}  // namespace placeto
