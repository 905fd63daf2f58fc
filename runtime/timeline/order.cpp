#include "runtime/timeline/order.h"

#include "runtime/base/stoppable_sort.h"

namespace placeto {

// Whether no node's key puts it before a predecessor: whoever goes through an order relies on it. A
// key that is no number fails, too, and the order is then the topological one.
static bool keeps_order(const Graph& graph, std::span<const double> key, bool descending,
                        Stop* stop) {
  for (uint32_t v = 0; v < graph.node_count(); ++v) {
    for (const InEdge& in : watched(graph.in_edges(v), stop)) {
      if (!(descending ? key[v] <= key[in.source] : key[in.source] <= key[v])) return false;
    }
    if (spend(stop, Stop::looked_up(1 + graph.in_edges(v).size()))) return false;
  }
  return true;
}

std::vector<uint32_t> order_by(const Graph& graph, std::span<const double> key, Direction direction,
                               Stop* stop) {
  const auto topological = graph.topological_order();
  std::vector<uint32_t> order(topological.begin(), topological.end());
  const bool descending = direction == Direction::kDescending;
  if (!keeps_order(graph, key, descending, stop)) return order;
  stoppable_sort(
      order.begin(), order.end(),
      [&](uint32_t a, uint32_t b) { return descending ? key[b] < key[a] : key[a] < key[b]; }, stop);
  return order;
}

std::vector<uint32_t> groups_in_topological_order(const Problem& problem, Stop* stop) {
  std::vector<uint32_t> order;
  std::vector<bool> seen(problem.group_count(), false);
  for (uint32_t v : problem.graph().topological_order()) {
    const uint32_t g = problem.group_of(v);
    if (!seen[g]) order.push_back(g);
    seen[g] = true;
    if (spend(stop, 1)) break;
  }
  return order;
}

}  // namespace placeto
