// The C interface: rules, and what happens when nothing obeys them or fits.
#include <doctest/doctest.h>

#include "tests/unit/capi_support.h"

using namespace capi_test;

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
