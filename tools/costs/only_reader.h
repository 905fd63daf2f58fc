// Who alone reads what a node makes.
#pragma once

#include <cstdint>

#include "runtime/graph/graph.h"

namespace placeto {

// node_count() if there are several or none. More edges count as those of several readers, so that
// looking stays cheap however many nodes ask.
inline uint32_t only_reader(const Graph& graph, uint32_t node, size_t most_edges = 8) {
  const auto out = graph.out_edges(node);
  if (out.empty() || out.size() > most_edges) return graph.node_count();
  for (const OutEdge& edge : out) {
    if (edge.target != out[0].target) return graph.node_count();
  }
  return out[0].target;
}

}  // namespace placeto
