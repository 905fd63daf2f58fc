#include "runtime/heuristics/free_nodes.h"

#include <doctest/doctest.h>

#include "runtime/heuristics/heuristics.h"
#include "tests/support/random_problem.h"

namespace placeto {
namespace {

// weights   w0    w1    w2   ...  take no time; each shares the device of the step that reads it
//            |     |     |
// steps     s0 -> s1 -> s2 ...    tensors between steps take longer than the steps
test::Instance chain_with_weights(uint32_t steps) {
  GraphSpec graph;
  for (uint32_t i = 0; i < 2 * steps; ++i) {
    NodeSpec node;
    const bool step = i >= steps;
    node.name = (step ? "s" : "w") + std::to_string(i % steps);
    node.cost_us = {step ? 10.0 : 0.0};
    node.outputs = {step ? 1'000u : 10u};
    node.colocate = "c" + std::to_string(i % steps);
    graph.nodes.push_back(node);
  }
  for (uint32_t i = 0; i < steps; ++i) {
    graph.edges.push_back({i, 0, steps + i});
    if (i > 0) graph.edges.push_back({steps + i - 1, 0, steps + i});
  }
  return test::build_instance(graph, test::equal_devices(4));
}

}  // namespace

TEST_CASE("weights do not take the steps that read them to an idle device") {
  const test::Instance instance = chain_with_weights(12);
  REQUIRE(instance.problem);
  const double single_us = find_method("single")->place(*instance.problem, {})->score.objective_us;
  for (const char* method : {"heft", "etf", "iterate"}) {
    CAPTURE(method);
    const Result<Candidate> candidate = find_method(method)->place(*instance.problem, {});
    REQUIRE(candidate.ok());
    CHECK(candidate->score.objective_us <= single_us);
  }
}

TEST_CASE("free nodes are those that take no time, wait for none but their like and are read") {
  GraphSpec graph;
  for (const double us : {0.0, 0.0, 0.0, 5.0, 0.0, 0.0}) {
    graph.nodes.emplace_back();
    graph.nodes.back().name = "n" + std::to_string(graph.nodes.size());
    graph.nodes.back().cost_us = {us};
    graph.nodes.back().outputs = {1};
  }
  // 0 -> 1 -> 3 -> 4, 2 -> 4; 5 is alone
  graph.edges = {{0, 0, 1}, {1, 0, 3}, {3, 0, 4}, {2, 0, 4}};
  const test::Instance instance = test::build_instance(graph, test::equal_devices(2));
  REQUIRE(instance.problem);
  const FreeNodes free(*instance.problem);
  const bool expected[] = {true, true, true, false, false, false};
  for (uint32_t v = 0; v < 6; ++v) {
    CAPTURE(v);
    CHECK(free.contains(v) == expected[v]);
  }
}

}  // namespace placeto
