// A placed and simulated random graph, for tests of reports and partitioners.
#pragma once

#include <doctest/doctest.h>

#include <string>
#include <utility>

#include "runtime/base/random.h"
#include "runtime/cost/simulator.h"

namespace placeto::test {

struct SceneOptions {
  uint32_t nodes = 60;
  uint32_t devices = 3;
  uint64_t seed = 1;
  TopologySpec rules = {};    // contention, transfer, execution, dispatch
  uint64_t memory_bytes = 0;  // of each device
  bool edges = true;
  bool zero_costs = false;  // every third node takes no time
  std::string name_prefix = "n";
};

inline GraphSpec scene_graph(const SceneOptions& options) {
  Random random(options.seed);
  GraphSpec spec;
  spec.name = "random";
  for (uint32_t v = 0; v < options.nodes; ++v) {
    NodeSpec node;
    node.name = options.name_prefix + std::to_string(v);
    node.op = "op" + std::to_string(random.below(4));
    node.cost_us = {options.zero_costs && v % 3 == 0 ? 0 : 1 + 50 * random.uniform()};
    node.outputs = {random.below(100'000), random.below(1'000)};
    node.resident_bytes = random.below(10'000);
    node.workspace_bytes = random.below(10'000);
    spec.nodes.push_back(node);
    for (uint32_t u = v > 4 ? v - 4 : 0; options.edges && u < v; ++u) {
      if (random.below(3) != 0) continue;
      const uint32_t output = random.below(3);
      spec.edges.push_back({u, output == 2 ? kControlEdge : output, v});
    }
  }
  return spec;
}

inline TopologySpec scene_topology(const SceneOptions& options) {
  TopologySpec spec = options.rules;
  spec.name = "devices";
  spec.op_gap_us = 1.25;
  spec.default_link = {5000, 3, 2};
  for (uint32_t d = 0; d < options.devices; ++d) {
    DeviceSpec device;
    device.name = "gpu:" + std::to_string(d);
    device.kind = "gpu";
    device.memory_bytes = options.memory_bytes;
    spec.devices.push_back(device);
  }
  return spec;
}

// Does not move: the problem refers to graph and topology.
struct Scene {
  explicit Scene(const SceneOptions& options = {})
      : Scene(scene_graph(options), scene_topology(options), options.seed) {}

  Scene(GraphSpec graph_spec, TopologySpec topology_spec, uint64_t seed)
      : graph(built(Graph::build(std::move(graph_spec)))),
        topology(built(Topology::build(std::move(topology_spec)))),
        problem(built(Problem::build(graph, topology))),
        simulator(problem) {
    Random random(seed + 1);
    for (uint32_t v = 0; v < graph.node_count(); ++v) {
      assignment.push_back(random.below(topology.device_count()));
    }
    timeline = simulator.run(assignment);
  }
  Scene(const Scene&) = delete;

  template <class T>
  static T built(Result<T> result) {
    REQUIRE_MESSAGE(result.ok(), result.status().message());
    return std::move(*result);
  }

  Graph graph;
  Topology topology;
  Problem problem;
  Simulator simulator;
  Assignment assignment;
  Timeline timeline;
};

}  // namespace placeto::test
