// Orders in which list schedulers visit the nodes; each puts predecessors first, unless stopped.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "runtime/base/stoppable_sort.h"
#include "runtime/graph/graph.h"

namespace placeto {

// Nodes by `key` under `before` (std::less: ascending), ties in topological order. The key must not
// put a node before its predecessor: upward rank descending or start time ascending.
template <class Before>
std::vector<uint32_t> order_by(const Graph& graph, std::span<const double> key, Before before,
                               Stop* stop = nullptr) {
  const auto topological = graph.topological_order();
  std::vector<uint32_t> order(topological.begin(), topological.end());
  stoppable_sort(
      order.begin(), order.end(), [&](uint32_t a, uint32_t b) { return before(key[a], key[b]); },
      stop);
  return order;
}

}  // namespace placeto
