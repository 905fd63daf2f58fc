// Everything that is accepted is placed, by every method, and the answers are judged: a graph and a
// topology from the bytes, full of numbers at the edges of what a double or an integer holds.
#include <algorithm>
#include <iterator>

#include "tests/fuzz/check.h"
#include "tests/fuzz/input.h"
#include "tests/fuzz/judge.h"
#include "tests/fuzz/targets.h"
#include "tests/support/random_problem.h"
#include "tests/support/small_policies.h"

namespace placeto::fuzz {
namespace {

constexpr uint32_t kDrawnNodes = 24, kDrawnDevices = 6;

// Mostly small and whole, so that there are ties, or at the edges of what is computed with; now and
// then beyond them, but of many numbers one refuses the whole.
double number(Input& input) {
  constexpr double kEdges[] = {0, 1, 1e-60, 1e-59, 1e-30, 1e-20, 1e-9, 0.1, 3, 7, 1e15, 1e30, 1e52};
  constexpr double kBeyond[] = {5e-324, 2.2250738585072014e-308, 1e-309, 1e-61, 1e61, 1e150, 1e308};
  const uint8_t kind = input.byte();
  if (kind == 255) return kBeyond[input.below(std::size(kBeyond))];
  return kind < 128 ? kind % 16 : kEdges[kind % std::size(kEdges)];
}

uint64_t bytes(Input& input) {
  constexpr uint64_t kEdges[] = {
      0, 1, 0x7fffffff, 0xffffffff, uint64_t{1} << 53, uint64_t{1} << 56};
  constexpr uint64_t kBeyond[] = {uint64_t{1} << 62, (uint64_t{1} << 63) - 1, ~uint64_t{0}};
  const uint8_t kind = input.byte();
  if (kind == 255) return kBeyond[input.below(std::size(kBeyond))];
  return kind < 200 ? kind % 32 : kEdges[kind % std::size(kEdges)];
}

NodeSpec make_node(Input& input, size_t kinds) {
  NodeSpec node;
  node.name = "n";
  if (!input.one_in(6)) {
    for (size_t k = 0; k < std::max<size_t>(1, kinds); ++k) {
      node.cost_us.push_back(input.one_in(10) ? -1 : number(input));
    }
  }
  for (uint32_t o = input.below(3); o > 0; --o) node.outputs.push_back(bytes(input));
  if (input.one_in(3)) node.resident_bytes = bytes(input);
  if (input.one_in(4)) node.workspace_bytes = bytes(input);
  if (input.one_in(4)) node.flops = bytes(input);
  if (input.one_in(4)) node.bytes_accessed = bytes(input);
  if (node.flops % 3 == 1) node.launches = node.bytes_accessed;
  node.fused = node.flops % 5 == 1;
  if (input.one_in(5)) node.colocate = input.text("key", 3);
  if (input.one_in(8)) node.allowed_kinds = {input.text("kind", 2)};
  return node;
}

// Sparse, or a star, or everything to everything: what loops go through by the edge.
GraphSpec draw_graph(Input& input) {
  GraphSpec graph;
  if (input.one_in(2)) graph.kinds = {"kind0", "kind1"};
  const uint32_t nodes = 1 + input.below(kDrawnNodes), shape = input.below(4);
  for (uint32_t v = 0; v < nodes; ++v) graph.nodes.push_back(make_node(input, graph.kinds.size()));
  const auto add = [&](uint32_t source, uint32_t target) {
    const auto outputs = static_cast<uint32_t>(graph.nodes[source].outputs.size());
    const bool control = outputs == 0 || input.one_in(8);
    graph.edges.push_back({source, control ? kControlEdge : input.below(outputs), target});
  };
  for (uint32_t v = 1; v < nodes; ++v) {
    if (shape == 0) add(0, v);
    if (shape == 1) add(v - 1, v);
    for (uint32_t u = 0; u < v && shape == 2; ++u) add(u, v);
    if (shape == 3 && !input.one_in(3)) add(input.below(v), v);
  }
  return graph;
}

LinkParameters make_link(Input& input) {
  LinkParameters link;
  link.bandwidth_bytes_per_us = input.one_in(3) ? number(input) : 1 + input.below(100);
  if (input.one_in(3)) link.latency_us = number(input);
  if (input.one_in(3)) link.gap_us = number(input);
  return link;
}

TopologySpec draw_topology(Input& input) {
  TopologySpec topology;
  test::set_rules(input.below(test::kRuleSets), topology);
  if (input.one_in(3)) topology.op_gap_us = number(input);
  topology.default_link = make_link(input);
  const uint32_t devices = 1 + input.below(kDrawnDevices);
  for (uint32_t d = 0; d < devices; ++d) {
    DeviceSpec& device = topology.devices.emplace_back();
    device.name = "d" + std::to_string(d);
    device.kind = "kind" + std::to_string(input.below(2));
    if (input.one_in(3)) device.memory_bytes = bytes(input);
    device.peak_flops = input.one_in(6) ? number(input) : 1e12;
    device.memory_bandwidth = input.one_in(6) ? number(input) : 1e11;
    if (input.one_in(4)) device.slowdown = number(input);
    if (input.one_in(4)) device.stage_us = number(input);
    if (input.one_in(4)) device.cut_us = number(input);
    if (input.one_in(4)) device.cut_bytes_per_us = number(input);
  }
  for (uint32_t i = input.below(5); i > 0 && devices > 1; --i) {
    const uint32_t from = input.below(devices),
                   to = (from + 1 + input.below(devices - 1)) % devices;
    topology.links.push_back({topology.devices[from].name, topology.devices[to].name,
                              make_link(input), input.one_in(2) ? "bus" : ""});
  }
  return topology;
}

Rules make_rules(Input& input, uint32_t nodes, uint32_t devices) {
  Rules rules;
  if (input.one_in(4)) rules.pins.push_back({input.below(nodes), input.below(devices)});
  if (input.one_in(4)) rules.forbids.push_back({input.below(nodes), input.below(devices)});
  if (input.one_in(4)) rules.colocate.push_back({input.below(nodes), input.below(nodes)});
  if (input.one_in(4)) rules.memory_headroom = input.one_in(2) ? 1e-17 : 0.01 * input.below(100);
  if (input.one_in(3)) rules.objective = Objective::kThroughput;
  return rules;
}

}  // namespace

int fuzz_place(const uint8_t* data, size_t size) {
  static const auto policy = test::load_policy(test::small_pairwise_policy());
  Input input(data, size);
  const auto graph = Graph::build(draw_graph(input));
  const auto topology = Topology::build(draw_topology(input));
  if (!graph.ok()) return check_refused(graph.status()), 0;
  if (!topology.ok()) return check_refused(topology.status()), 0;
  const Rules rules = make_rules(input, graph->node_count(), topology->device_count());
  const auto problem = Problem::build(*graph, *topology, rules);
  if (!problem.ok()) return check_refused(problem.status()), 0;
  MethodOptions options;
  options.seed = input.byte();
  options.passes = 1 + input.below(3);
  options.samples = input.below(2);
  options.budget.evaluations = 1 + input.below(30);
  judge(*problem, options, {.policy = input.one_in(2) ? policy.get() : nullptr});
  return 1;
}

}  // namespace placeto::fuzz
