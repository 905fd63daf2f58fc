// Small random graphs, topologies and placements for property tests: full of ties, zero costs, zero
// bytes and odd wiring, since that is where rules are told apart.
#pragma once

#include <algorithm>
#include <memory>
#include <numeric>
#include <string>
#include <vector>

#include "runtime/base/random.h"
#include "runtime/cost/problem.h"

namespace placeto::test {

struct RandomShape {
  uint32_t most_nodes = 14;
  uint32_t most_devices = 4;
  bool whole_numbers = true;  // costs and sizes tie often; else they never do
  bool restrictions = false;  // kinds that cannot run nodes, colocation keys, allowed_kinds
  bool memory = true;         // resident bytes and workspaces (limits are the caller's)
};

// Equal devices whose links carry 10 bytes a microsecond.
inline TopologySpec equal_devices(uint32_t count) {
  TopologySpec topology;
  topology.name = "equal";
  topology.default_link.bandwidth_bytes_per_us = 10;
  for (uint32_t d = 0; d < count; ++d) {
    topology.devices.emplace_back();
    topology.devices.back().name = "gpu:" + std::to_string(d);
    topology.devices.back().kind = "gpu";
  }
  return topology;
}

// A number that ties with others, or one that does not.
inline double random_us(Random& random, bool whole, uint32_t most) {
  if (whole) return random.below(most);
  return 0.1 + random.uniform() * most;
}

inline std::vector<uint32_t> shuffled(uint32_t n, Random& random) {
  std::vector<uint32_t> order(n);
  std::iota(order.begin(), order.end(), 0u);
  for (uint32_t i = n; i > 1; --i) std::swap(order[i - 1], order[random.below(i)]);
  return order;
}

inline NodeSpec random_node(const std::vector<std::string>& kinds, const RandomShape& shape,
                            Random& random) {
  NodeSpec node;
  const double cost = random_us(random, shape.whole_numbers, 6);
  for (size_t k = 0; k < std::max<size_t>(1, kinds.size()); ++k) {
    node.cost_us.push_back(k == 0 ? cost : cost * (1 + random.below(3)));
  }
  if (shape.restrictions && kinds.size() > 1) {
    if (random.below(6) == 0) node.cost_us[random.below(2)] = -1;
    if (random.below(8) == 0) node.allowed_kinds = {kinds[node.cost_us[0] < 0 ? 1 : 0]};
    if (random.below(4) == 0) node.colocate = "c" + std::to_string(random.below(3));
  }
  for (uint32_t o = random.below(4); o > 0; --o) {
    const double bytes =
        random_us(random, shape.whole_numbers, 9) * (shape.whole_numbers ? 1 : 997);
    node.outputs.push_back(static_cast<uint64_t>(bytes));
  }
  if (shape.memory) {
    node.resident_bytes = random.below(20);
    node.workspace_bytes = random.below(3) == 0 ? random.below(30) : 0;
  }
  return node;
}

// Edges go from earlier to later in a random order of the nodes: indices tell nothing.
inline GraphSpec random_graph(const RandomShape& shape, Random& random) {
  GraphSpec graph;
  graph.name = "random";
  if (shape.restrictions || random.below(2) == 0) graph.kinds = {"gpu", "cpu"};
  const uint32_t n = 1 + random.below(shape.most_nodes);
  for (uint32_t v = 0; v < n; ++v) {
    graph.nodes.push_back(random_node(graph.kinds, shape, random));
    graph.nodes.back().name = "n" + std::to_string(v);
  }
  const std::vector<uint32_t> order = shuffled(n, random);
  const uint32_t density = random.below(4);  // 0: no edges at all
  for (uint32_t i = 0; i < n * density && n > 1; ++i) {
    uint32_t a = random.below(n), b = random.below(n);
    if (a == b) continue;
    if (random.below(3) > 0) b = std::min(n - 1, a + 1 + random.below(4));  // mostly near
    if (a == b) continue;
    const uint32_t source = order[std::min(a, b)], target = order[std::max(a, b)];
    const auto outputs = static_cast<uint32_t>(graph.nodes[source].outputs.size());
    const bool control = outputs == 0 || random.below(8) == 0;
    const EdgeSpec edge{source, control ? kControlEdge : random.below(outputs), target};
    if (std::find(graph.edges.begin(), graph.edges.end(), edge) == graph.edges.end()) {
      graph.edges.push_back(edge);
    }
  }
  return graph;
}

inline LinkParameters random_link(const RandomShape& shape, Random& random) {
  LinkParameters link;
  link.bandwidth_bytes_per_us = shape.whole_numbers ? 1 + random.below(3) : 50 + random.uniform();
  link.latency_us = random_us(random, shape.whole_numbers, 3);
  link.gap_us = random_us(random, shape.whole_numbers, 3);
  return link;
}

// `rules` in [0, 24) picks one of the sets of rules: bits for contention, transfer and dispatch,
// then the execution; from kStagedRules on, staged.
constexpr uint32_t kRuleSets = 24, kStagedRules = 16;
inline void set_rules(uint32_t rules, TopologySpec& topology) {
  topology.contention = (rules & 1) != 0 ? Contention::kNone : Contention::kEgress;
  topology.transfer = (rules & 2) != 0 ? Transfer::kUnicast : Transfer::kBroadcast;
  topology.dispatch = (rules & 4) != 0 ? Dispatch::kPriority : Dispatch::kFifo;
  topology.execution = static_cast<Execution>(rules / 8);
}

inline TopologySpec random_topology(const RandomShape& shape, uint32_t rules, Random& random) {
  TopologySpec topology;
  topology.name = "random";
  set_rules(rules, topology);
  topology.op_gap_us = random.below(2) == 0 ? 0 : random_us(random, shape.whole_numbers, 3);
  topology.default_link = random_link(shape, random);
  // At least one device of each kind, so that restrictions leave something.
  const uint32_t n = (shape.restrictions ? 2 : 1) + random.below(shape.most_devices);
  for (uint32_t d = 0; d < n; ++d) {
    DeviceSpec device;
    device.kind = d % 2 == 0 ? "gpu" : "cpu";
    device.name = device.kind + ":" + std::to_string(d);
    if (random.below(4) == 0) device.slowdown = 2;
    if (topology.execution == Execution::kStaged) {
      device.stage_us = random.below(2) == 0 ? 0 : random_us(random, shape.whole_numbers, 4);
      device.cut_us = random.below(2) == 0 ? 0 : random_us(random, shape.whole_numbers, 3);
      device.cut_bytes_per_us = random.below(2) == 0 ? 0 : 1 << random.below(3);  // exact sums
    }
    topology.devices.push_back(device);
  }
  if (n < 2 || random.below(2) == 0) return topology;
  for (uint32_t a = 0; a < n; ++a) {
    for (uint32_t b = 0; b < n; ++b) {
      if (a == b || random.below(2) == 0) continue;
      LinkSpec link{topology.devices[a].name, topology.devices[b].name, random_link(shape, random),
                    ""};
      if (random.below(2) == 0) link.channel = random.below(2) == 0 ? "bus" : "bridge";
      topology.links.push_back(link);
    }
  }
  return topology;
}

// Keeps what a Problem refers to alive beside it.
struct Instance {
  std::unique_ptr<Graph> graph;
  std::unique_ptr<Topology> topology;
  std::unique_ptr<Problem> problem;
};

// Nothing inside if the specifications or rules allow no placement.
inline Instance build_instance(GraphSpec graph, TopologySpec topology, const Rules& rules = {}) {
  Instance instance;
  Result<Graph> g = Graph::build(std::move(graph));
  Result<Topology> t = Topology::build(std::move(topology));
  if (!g.ok() || !t.ok()) return instance;
  instance.graph = std::make_unique<Graph>(std::move(*g));
  instance.topology = std::make_unique<Topology>(std::move(*t));
  Result<Problem> p = Problem::build(*instance.graph, *instance.topology, rules);
  if (p.ok()) instance.problem = std::make_unique<Problem>(std::move(*p));
  return instance;
}

// Memory of each device: `least` and something below `range` more; unlimited if that is 0.
struct RandomMemory {
  uint64_t least = 0;
  uint32_t range = 0;
};

inline Instance random_instance(const RandomShape& shape, uint32_t rules, Random& random,
                                RandomMemory memory = {}, const Rules& caller = {}) {
  GraphSpec graph = random_graph(shape, random);
  TopologySpec topology = random_topology(shape, rules, random);
  for (DeviceSpec& device : topology.devices) {
    if (memory.range > 0) device.memory_bytes = memory.least + random.below(memory.range);
  }
  return build_instance(std::move(graph), std::move(topology), caller);
}

// Independent nodes of these sizes, on devices with so much memory.
inline Instance weights(const std::vector<uint64_t>& sizes, const std::vector<uint64_t>& rooms) {
  GraphSpec graph;
  for (const uint64_t bytes : sizes) {
    graph.nodes.emplace_back();
    graph.nodes.back().name = "n" + std::to_string(graph.nodes.size());
    graph.nodes.back().cost_us = {1};
    graph.nodes.back().resident_bytes = bytes;
  }
  TopologySpec topology = equal_devices(static_cast<uint32_t>(rooms.size()));
  for (size_t d = 0; d < rooms.size(); ++d) topology.devices[d].memory_bytes = rooms[d];
  return build_instance(std::move(graph), std::move(topology));
}

// A device drawn for every group among those it may run on.
inline Assignment random_assignment(const Problem& problem, Random& random) {
  Assignment assignment(problem.node_count());
  for (uint32_t g = 0; g < problem.group_count(); ++g) {
    uint32_t device = random.below(problem.device_count());
    while (!problem.allowed(g, device)) device = (device + 1) % problem.device_count();
    for (uint32_t v : problem.members(g)) assignment[v] = device;
  }
  return assignment;
}

}  // namespace placeto::test
