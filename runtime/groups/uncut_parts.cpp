#include "runtime/groups/uncut_parts.h"

#include <algorithm>

#include "runtime/base/disjoint_sets.h"

namespace placeto {

std::vector<uint32_t> uncut_parts(const Problem& problem,
                                  std::span<const std::span<const uint32_t>> placements,
                                  Stop* stop) {
  if (placements.empty()) return {};
  const Graph& graph = problem.graph();
  DisjointSets parts(problem.group_count());
  for (uint32_t v = 0; v < graph.node_count(); ++v) {
    for (const OutEdge& out : watched(graph.out_edges(v), stop)) {
      const auto uncut = [&](std::span<const uint32_t> on) { return on[v] == on[out.target]; };
      if (!std::all_of(placements.begin(), placements.end(), uncut)) continue;
      parts.merge(problem.group_of(v), problem.group_of(out.target));
    }
    if (spend(stop, 1 + placements.size() * graph.out_edges(v).size())) return {};
  }
  std::vector<uint32_t> part_of(problem.group_count());
  for (uint32_t g = 0; g < part_of.size(); ++g) part_of[g] = parts.find(g);
  return part_of;
}

}  // namespace placeto
