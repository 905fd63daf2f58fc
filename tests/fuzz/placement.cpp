// Binary placement files: decoded, written again, and resolved on a graph and a topology.
#include "runtime/format/placement_file.h"
#include "tests/fuzz/check.h"
#include "tests/fuzz/targets.h"

namespace placeto::fuzz {
namespace {

// As many nodes as the placement has entries, up to a few: what a caller may have loaded.
Graph some_graph(size_t nodes) {
  GraphSpec spec;
  spec.nodes.resize(nodes == 0 ? 1 : nodes);
  for (NodeSpec& node : spec.nodes) node.cost_us = {1};
  auto graph = Graph::build(std::move(spec));
  check(graph.ok(), "a plain graph builds");
  return *std::move(graph);
}

// The placement's first device and one that it does not know.
Topology some_topology(const PlacementSpec& placement) {
  TopologySpec spec;
  if (!placement.devices.empty()) spec.devices.push_back({placement.devices[0], "gpu"});
  spec.devices.push_back({"a device of its own", "gpu"});
  spec.default_link.bandwidth_bytes_per_us = 1;
  auto topology = Topology::build(spec);
  // The name may not suit a topology, or be that of the other device.
  if (!topology.ok()) {
    spec.devices.erase(spec.devices.begin());
    topology = Topology::build(spec);
  }
  check(topology.ok(), "a plain topology builds");
  return *std::move(topology);
}

void check_resolving(const PlacementSpec& spec) {
  const Graph graph = some_graph(spec.assignment.size() < 1000 ? spec.assignment.size() : 1);
  const Topology topology = some_topology(spec);
  const auto assignment = resolve_placement(spec, graph, topology);
  if (!assignment.ok()) return check_refused(assignment.status());
  check(assignment->size() == graph.node_count(), "every node has a device");
  for (const uint32_t device : *assignment) {
    check(device < topology.device_count(), "devices exist");
  }
}

}  // namespace

int fuzz_placement(const uint8_t* data, size_t size) {
  const std::vector<uint8_t> bytes = own_copy(data, size);
  const auto spec = decode_placement(bytes);
  if (!spec.ok()) return check_refused(spec.status()), 0;
  check_round_trip(*spec, encode_placement, decode_placement);
  check(check_placement(*spec).ok(), "what decoding accepts is in order");
  check_resolving(*spec);
  return 1;
}

}  // namespace placeto::fuzz
