// Twins change places, and no time changes.
#include "runtime/cost/twins.h"

#include <doctest/doctest.h>

#include "runtime/cost/simulator.h"
#include "tests/support/random_problem.h"

namespace placeto {
namespace {

// Two equal devices and one of another kind, which hears both.
TopologySpec pair_and_other(const test::RandomShape& shape, uint32_t rules, Random& random) {
  TopologySpec topology = test::equal_devices(3);
  test::set_rules(rules, topology);
  topology.devices[2].kind = "cpu";
  topology.default_link = test::random_link(shape, random);
  topology.op_gap_us = random.below(2);
  return topology;
}

Assignment exchanged(Assignment assignment, uint32_t a, uint32_t b) {
  for (uint32_t& d : assignment) d = d == a ? b : d == b ? a : d;
  return assignment;
}

void check_times(const Problem& problem, uint32_t a, uint32_t b, Random& random) {
  Simulator one(problem), other(problem);
  for (int i = 0; i < 40; ++i) {
    const Assignment assignment = test::random_assignment(problem, random);
    REQUIRE(one.makespan_us(assignment) == other.makespan_us(exchanged(assignment, a, b)));
    CHECK(std::equal(one.start_us().begin(), one.start_us().end(), other.start_us().begin()));
  }
}

}  // namespace

TEST_CASE("twins that change places change no time, however many ties, nothings and waits") {
  Random random(171);
  int pairs = 0;
  for (uint32_t rules = 0; rules < test::kRuleSets; ++rules) {
    for (int i = 0; i < 300; ++i) {
      const test::RandomShape shape{.most_nodes = 14, .whole_numbers = i % 8 != 0};
      GraphSpec graph = test::random_graph(shape, random);
      TopologySpec topology = pair_and_other(shape, rules, random);
      if (topology.execution == Execution::kStaged) continue;
      // With every run taking time there are twins; what is sent may still take none.
      for (NodeSpec& node : graph.nodes) {
        for (double& us : node.cost_us) us += i % 16 == 0 ? 0 : 1;
        if (i % 2 == 0) std::fill(node.outputs.begin(), node.outputs.end(), 0);
      }
      const test::Instance instance = test::build_instance(std::move(graph), std::move(topology));
      if (!instance.problem) continue;
      const std::vector<uint32_t> first = first_twins(*instance.problem);
      CHECK(first[0] == 0);
      if (first[1] == 1) continue;
      CAPTURE(rules);
      CAPTURE(i);
      check_times(*instance.problem, 0, 1, random);
      ++pairs;
    }
  }
  CHECK(pairs > 1'000);
}

TEST_CASE("devices that send what takes no time are no twins, unless transfers never wait") {
  for (const Contention contention : {Contention::kEgress, Contention::kNone}) {
    GraphSpec graph;
    graph.nodes.resize(2);
    graph.nodes[0].name = "a";
    graph.nodes[1].name = "b";
    for (NodeSpec& node : graph.nodes) node.cost_us = {1};
    graph.nodes[0].outputs = {0};
    graph.edges = {{0, 0, 1}};
    TopologySpec topology = test::equal_devices(2);
    topology.contention = contention;
    const test::Instance instance = test::build_instance(std::move(graph), std::move(topology));
    REQUIRE(instance.problem);
    CHECK((first_twins(*instance.problem)[1] == 0) == (contention == Contention::kNone));
  }
}

}  // namespace placeto
