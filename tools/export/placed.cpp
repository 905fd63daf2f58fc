#include "tools/export/placed.h"

#include "runtime/graph/text.h"

namespace placeto {

std::string of_other_graph(const PlacementSpec& placement, const std::string& graph) {
  if (placement.graph.empty() || placement.graph == graph) return "";
  return "is of graph " + in_quotes(placement.graph) + ", and this is graph " + in_quotes(graph);
}

Result<Placed> placed_graph(const PlacementSpec& placement, const Graph& graph) {
  const std::string what = "graph " + in_quotes(graph.name());
  if (Status s = check_entries(placement, graph.node_count(), what); !s.ok()) {
    const std::string other = of_other_graph(placement, graph.name());
    return other.empty() ? s : Status(s.code(), other);
  }
  Placed placed{placement.graph, placement.topology, placement.devices, {}, placement.order, {},
                placement.dims};
  placed.nodes.reserve(graph.node_count());
  for (uint32_t v = 0; v < graph.node_count(); ++v) {
    const NodeSpec& node = graph.node(v);
    const uint32_t stage = v < placement.stages.size() ? placement.stages[v] : kNoIndex;
    placed.nodes.push_back(
        {node.name, node.op, placement.assignment[v], node.resident_bytes, stage, {}});
  }
  return placed;
}

std::vector<bool> used_devices(const Placed& placed) {
  std::vector<bool> used(placed.devices.size());
  for (const PlacedNode& node : placed.nodes) used[node.device] = true;
  return used;
}

}  // namespace placeto
