// Devices that may change places in every placement without a change to any time.
#pragma once

#include <cstdint>
#include <vector>

#include "runtime/cost/problem.h"

namespace placeto {

// Of every device, the first of its twins; itself, if it has none before it. Not for staged
// execution, whose prices are not looked at. Of no use once stopped.
std::vector<uint32_t> first_twins(const Problem& problem, Stop* stop = nullptr);

}  // namespace placeto
