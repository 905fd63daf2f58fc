// The C interface: rules, and what happens when nothing obeys them or fits.
#include <doctest/doctest.h>

#include "tests/unit/capi_support.h"

using namespace capi_test;

// "gpu:0" and "cpu:0".
static Topology gpu_and_cpu() {
  const TopologyBuilder builder = topology_builder("host", topology_rules(10));
  for (const char* kind : {"gpu", "cpu"}) {
    const std::string name = std::string(kind) + ":0";
    placeto_device device;
    placeto_default_device(&device, sizeof device);
    device.name = name.c_str();
    device.kind = kind;
    REQUIRE(placeto_topology_builder_add_device(builder.get(), &device, nullptr, nullptr) ==
            PLACETO_OK);
  }
  placeto_topology* topology = nullptr;
  REQUIRE(placeto_topology_builder_build(builder.get(), nullptr, &topology, nullptr) == PLACETO_OK);
  return Topology(topology);
}

TEST_CASE("rules are obeyed") {
  const Graph graph = diamond();
  const Topology topology = devices(2);
  const placeto_node_device pins[] = {{1, 1}};
  const placeto_node_device forbids[] = {{0, 0}};
  const uint32_t together[] = {1, 2};
  const placeto_node_list colocate[] = {{together, 2}};
  placeto_options rules = options();
  rules.pins = pins;
  rules.pin_count = 1;
  rules.forbids = forbids;
  rules.forbid_count = 1;
  const std::vector<uint32_t> apart = assignment_of(place(graph, topology, rules));
  CHECK(apart[1] == 1);
  CHECK(apart[0] == 1);
  CHECK(apart[2] == 0);
  rules.colocate = colocate;
  rules.colocate_count = 1;
  const std::vector<uint32_t> joint = assignment_of(place(graph, topology, rules));
  CHECK(joint[1] == 1);
  CHECK(joint[2] == 1);
}

TEST_CASE("rules that leave no device to a node are infeasible, for no lack of memory") {
  const Graph graph = diamond();
  const Topology topology = devices(2);
  const placeto_node_device forbids[] = {{3, 0}, {3, 1}};
  uint64_t shortfall[2] = {77, 77};
  placeto_options rules = options();
  rules.forbids = forbids;
  rules.forbid_count = 2;
  rules.shortfall_bytes = shortfall;
  rules.shortfall_capacity = 2;
  placeto_error error;
  CHECK(try_place(graph, topology, rules, error) == PLACETO_INFEASIBLE);
  CHECK(mentions(error, "'out'"));
  CHECK(shortfall[0] == 0);
  CHECK(shortfall[1] == 0);
  const uint32_t together[] = {1, 3};
  const placeto_node_list colocate[] = {{together, 2}};
  rules.colocate = colocate;
  rules.colocate_count = 1;
  CHECK(try_place(graph, topology, rules, error) == PLACETO_INFEASIBLE);
  CHECK(mentions(error, "and 1 colocated node ("));
}

TEST_CASE("rules that exclude each other are named") {
  const Graph graph = diamond();
  const Topology topology = devices(2);
  const uint32_t together[] = {0, 1, 3};
  const placeto_node_list colocate[] = {{together, 3}};
  const placeto_node_device pins[] = {{2, 1}, {1, 0}, {3, 1}};
  placeto_options rules = options();
  rules.colocate = colocate;
  rules.colocate_count = 1;
  rules.pins = pins;
  rules.pin_count = 3;
  placeto_error error;
  CHECK(try_place(graph, topology, rules, error) == PLACETO_INFEASIBLE);
  CHECK_MESSAGE(
      mentions(error, ": nodes[1] 'left' is pinned to 'gpu:0', and elsewhere nodes[3] 'out'"),
      error.message);
  const placeto_node_device twice[] = {{2, 1}, {2, 0}};
  rules.pins = twice;
  rules.pin_count = 2;
  CHECK(try_place(graph, topology, rules, error) == PLACETO_INFEASIBLE);
  CHECK_MESSAGE(
      mentions(error, ": nodes[2] 'right' is pinned to 'gpu:1', and to another device, too"),
      error.message);
  rules.pins = pins;
  CHECK(try_place(graph, topology, rules, error) == PLACETO_OK);
  const placeto_node_device forbids[] = {{2, 0}, {0, 0}};
  rules.forbids = forbids;
  rules.forbid_count = 2;
  CHECK(try_place(graph, topology, rules, error) == PLACETO_INFEASIBLE);
  CHECK_MESSAGE(mentions(error,
                         ": nodes[1] 'left' is pinned to 'gpu:0', which is forbidden to nodes[0] "
                         "'in'"),
                error.message);
}

TEST_CASE("rules that kinds of device do not allow are named") {
  const GraphBuilder builder = graph_builder("kinds");
  const char* const kinds[] = {"gpu", "cpu"};
  REQUIRE(placeto_graph_builder_set_kinds(builder.get(), kinds, 2, nullptr) == PLACETO_OK);
  for (const char* name : {"any", "cpu only", "gpu only"}) {
    placeto_node node;
    placeto_default_node(&node, sizeof node);
    const double cost_us[] = {name[0] == 'c' ? -1.0 : 1.0, name[0] == 'g' ? -1.0 : 1.0};
    node.name = name;
    node.cost_us = cost_us;
    node.cost_count = 2;
    REQUIRE(placeto_graph_builder_add_node(builder.get(), &node, nullptr, nullptr) == PLACETO_OK);
  }
  const Graph graph = build(builder);
  const Topology topology = gpu_and_cpu();
  const uint32_t together[] = {0, 1, 2};
  const placeto_node_list colocate[] = {{together, 2}, {together + 1, 2}};
  const placeto_node_device pins[] = {{0, 0}};
  placeto_options rules = options();
  rules.colocate = colocate;
  rules.colocate_count = 1;
  rules.pins = pins;
  rules.pin_count = 1;
  placeto_error error;
  CHECK(try_place(graph, topology, rules, error) == PLACETO_INFEASIBLE);
  CHECK_MESSAGE(
      mentions(error,
               ": nodes[0] 'any' is pinned to 'gpu:0', which cannot run nodes[1] 'cpu only'"),
      error.message);
  rules.colocate_count = 2;
  CHECK(try_place(graph, topology, rules, error) == PLACETO_INFEASIBLE);
  CHECK_MESSAGE(mentions(error,
                         ": nodes[1] 'cpu only' is colocated, and has no device in common, with "
                         "nodes[2] 'gpu only'"),
                error.message);
}

TEST_CASE("a graph that no device of the topology can run is bad input") {
  const GraphBuilder builder = graph_builder("npu only");
  const char* const kinds[] = {"npu"};
  placeto_node node;
  placeto_default_node(&node, sizeof node);
  const double cost_us = 1;
  node.cost_us = &cost_us;
  node.cost_count = 1;
  node.allowed_kinds = kinds;
  node.allowed_kind_count = 1;
  REQUIRE(placeto_graph_builder_add_node(builder.get(), &node, nullptr, nullptr) == PLACETO_OK);
  placeto_error error;
  CHECK(try_place(build(builder), devices(2), options(), error) == PLACETO_BAD_INPUT);
}

TEST_CASE("what does not fit in memory is infeasible, and the shortfall says by how much") {
  const Graph graph = diamond();  // 400 resident bytes and tensors
  uint64_t shortfall[2] = {0, 0};
  placeto_options chosen = options();
  chosen.shortfall_bytes = shortfall;
  chosen.shortfall_capacity = 2;
  placeto_error error;
  CHECK(try_place(graph, devices(2, 150), chosen, error) == PLACETO_INFEASIBLE);
  CHECK(mentions(error, "memory"));
  // Resident bytes alone lack 400 - 2 x 150.
  CHECK(shortfall[0] + shortfall[1] >= 100);
  for (const uint64_t bytes : shortfall) {
    if (bytes > 0) CHECK(mentions(error, (std::to_string(bytes) + " B on").c_str()));
  }
  chosen.shortfall_capacity = 1;
  CHECK(try_place(graph, devices(2, 150), chosen, error) == PLACETO_BUFFER_TOO_SMALL);
  CHECK(mentions(error, "shortfall_bytes"));

  placeto_options tight = options();
  CHECK(try_place(graph, devices(2, 300), tight, error) == PLACETO_OK);
  tight.memory_headroom = 0.5;
  CHECK(try_place(graph, devices(2, 300), tight, error) == PLACETO_INFEASIBLE);
}
