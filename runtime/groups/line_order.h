// Groups along a line, those that exchange much near each other: a layer and its gradient stand
// side by side, which the topological order has near its two ends.
#pragma once

#include <cstdint>
#include <vector>

#include "runtime/cost/problem.h"

namespace placeto {

// All of the problem's groups. Incomplete once stopped.
std::vector<uint32_t> line_order(const Problem& problem, Stop* stop = nullptr);

}  // namespace placeto
