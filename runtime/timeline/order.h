// Orders in which list schedulers visit the nodes, each with predecessors first, and methods that
// go by groups those. Incomplete once stopped.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "runtime/base/stop.h"
#include "runtime/cost/problem.h"

namespace placeto {

enum class Direction : uint8_t { kAscending, kDescending };

// Nodes by `key`, ties in topological order. The key must not put a node before its predecessor:
// start time ascending or upward rank descending.
std::vector<uint32_t> order_by(const Graph& graph, std::span<const double> key, Direction direction,
                               Stop* stop = nullptr);

// Groups by their first nodes.
std::vector<uint32_t> groups_in_topological_order(const Problem& problem, Stop* stop = nullptr);

}  // namespace placeto
