#include "runtime/timeline/order.h"

#include "runtime/base/stoppable_sort.h"

namespace placeto {

std::vector<uint32_t> order_by(const Graph& graph, std::span<const double> key, Direction direction,
                               Stop* stop) {
  const auto topological = graph.topological_order();
  std::vector<uint32_t> order(topological.begin(), topological.end());
  const bool descending = direction == Direction::kDescending;
  stoppable_sort(
      order.begin(), order.end(),
      [&](uint32_t a, uint32_t b) { return descending ? key[b] < key[a] : key[a] < key[b]; }, stop);
  return order;
}

}  // namespace placeto
