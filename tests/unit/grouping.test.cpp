#include "runtime/groups/grouping.h"

#include <doctest/doctest.h>

#include <string>

#include "runtime/groups/hierarchy.h"
#include "tests/support/random_problem.h"

namespace placeto {
namespace {

void add_node(GraphSpec& graph, double cost_us, uint64_t output_bytes) {
  graph.nodes.emplace_back();
  graph.nodes.back().name = "n" + std::to_string(graph.nodes.size());
  graph.nodes.back().cost_us = {cost_us};
  graph.nodes.back().outputs = {output_bytes};
}

// A source with `count` chains of three nodes behind it, and a sink. Runs take 10 us, transfers
// inside chains `transfer_us`.
GraphSpec chains(uint32_t count, double transfer_us) {
  GraphSpec graph;
  add_node(graph, 10, 10);
  const auto bytes = static_cast<uint64_t>(10 * transfer_us);
  const uint32_t sink = 1 + 3 * count;
  for (uint32_t c = 0; c < count; ++c) {
    const uint32_t first = 1 + 3 * c;
    for (int i = 0; i < 3; ++i) add_node(graph, 10, bytes);
    graph.edges.push_back({0, 0, first});
    graph.edges.push_back({first, 0, first + 1});
    graph.edges.push_back({first + 1, 0, first + 2});
    graph.edges.push_back({first + 2, 0, sink});
  }
  add_node(graph, 10, 0);
  return graph;
}

uint32_t groups_of(const test::Instance& instance) {
  return Hierarchy(*instance.problem).group_count(0);
}

}  // namespace

TEST_CASE("a chain is one group if its transfers take as long as its runs, and only then") {
  constexpr uint32_t kChains = 40;
  const test::Instance slow = test::build_instance(chains(kChains, 10), test::equal_devices(2));
  const test::Instance fast = test::build_instance(chains(kChains, 9), test::equal_devices(2));
  REQUIRE(slow.problem);
  REQUIRE(fast.problem);
  CHECK(groups_of(slow) == kChains + 2);
  CHECK(groups_of(fast) == 3 * kChains + 2);
}

TEST_CASE("a tiny operator joins the neighbour that it exchanges most with") {
  // A tiny node 2 between two halves of the work; it gets 100 bytes from one, sends 1 to the other.
  GraphSpec graph;
  for (int i = 0; i < 40; ++i) add_node(graph, 10, 10);
  graph.nodes[0].outputs = {100};
  graph.nodes[2].cost_us = {0.001};
  graph.nodes[2].outputs = {1};
  graph.edges = {{0, 0, 2}, {0, 0, 3}, {2, 0, 1}, {2, 0, 4}};
  const test::Instance instance = test::build_instance(graph, test::equal_devices(2));
  REQUIRE(instance.problem);
  const Hierarchy hierarchy(*instance.problem);
  CHECK(hierarchy.group_count(0) == 39);
  CHECK(hierarchy.group_of(0, 2) == hierarchy.group_of(0, 0));
}

TEST_CASE("a chain stays apart where its operators belong on devices of different kinds") {
  GraphSpec graph = chains(40, 10);
  graph.kinds = {"gpu", "cpu"};
  for (uint32_t v = 0; v < graph.nodes.size(); ++v) {
    if (v % 2 == 0) {
      graph.nodes[v].cost_us = {10, 1000};
    } else {
      graph.nodes[v].cost_us = {1000, 10};
    }
  }
  TopologySpec topology = test::equal_devices(2);
  topology.devices[1].kind = "cpu";
  const test::Instance instance = test::build_instance(graph, topology);
  REQUIRE(instance.problem);
  CHECK(groups_of(instance) == graph.nodes.size());
}

TEST_CASE("no group holds more than an eighth of a device's share of the work") {
  GraphSpec graph;
  for (uint32_t v = 0; v < 160; ++v) {
    add_node(graph, 10, 1000);
    if (v > 0) graph.edges.push_back({v - 1, 0, v});
  }
  const test::Instance instance = test::build_instance(graph, test::equal_devices(2));
  REQUIRE(instance.problem);
  const Hierarchy hierarchy(*instance.problem);
  CHECK(hierarchy.group_count(0) == 16);
  for (uint32_t g = 0; g < 16; ++g) CHECK(hierarchy.nodes(0, g).size() == 10);
}

TEST_CASE("groups that rules keep on different devices stay apart, however they are linked") {
  Random random(77);
  for (int i = 0; i < 100; ++i) {
    const test::RandomShape shape{.most_nodes = 150, .restrictions = true};
    const test::Instance instance =
        test::random_instance(shape, random.below(test::kRuleSets), random);
    if (!instance.problem) continue;
    CAPTURE(i);
    const Hierarchy hierarchy(*instance.problem);
    for (uint32_t g = 0; g < hierarchy.group_count(0); ++g) {
      bool somewhere = false;
      for (uint32_t d = 0; d < instance.problem->device_count(); ++d) {
        somewhere = somewhere || hierarchy.allowed(0, g, d);
      }
      CHECK(somewhere);
    }
  }
}

}  // namespace placeto
