// Devices that may change places in every placement without a change to any time.
#pragma once

#include <cstdint>
#include <vector>

#include "runtime/cost/problem.h"

namespace placeto {

// Whether the devices have all in common that the cost model and the rules look at, but for links:
// run times, memory, what may run there, and prices where there are stages. Of no use once stopped.
bool interchangeable(const Problem& problem, uint32_t a, uint32_t b, Stop* stop = nullptr);

// The first twin (interchangeable device) of every device; itself, if there is none before it.
// Under staged execution with unicast an output goes to other devices in the order of their
// indices, so there it does matter which of them is which. Of no use once stopped.
std::vector<uint32_t> first_twins(const Problem& problem, Stop* stop = nullptr);

}  // namespace placeto
