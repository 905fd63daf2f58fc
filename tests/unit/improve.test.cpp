#include "runtime/heuristics/improve.h"

#include <doctest/doctest.h>

#include "runtime/heuristics/partition.h"
#include "runtime/heuristics/passes.h"
#include "tests/support/random_problem.h"

namespace placeto {
namespace {

// a0 -> a1 -> ... -> a7 and b0 -> b1 -> ... -> b7, with nothing between them.
GraphSpec two_chains() {
  GraphSpec graph;
  for (const char* chain : {"a", "b"}) {
    for (uint32_t i = 0; i < 8; ++i) {
      const auto v = static_cast<uint32_t>(graph.nodes.size());
      NodeSpec node;
      node.name = chain + std::to_string(i);
      node.cost_us = {10};
      node.outputs = {1'000};
      graph.nodes.push_back(node);
      if (i > 0) graph.edges.push_back({v - 1, 0, v});
    }
  }
  return graph;
}

TopologySpec two_devices(double slowdown) {
  TopologySpec topology;
  topology.default_link.bandwidth_bytes_per_us = 10;
  for (const char* name : {"gpu:0", "gpu:1"}) {
    DeviceSpec device;
    device.name = name;
    device.kind = "gpu";
    topology.devices.push_back(device);
  }
  topology.devices[1].slowdown = slowdown;
  return topology;
}

const test::RandomShape kShape{.most_nodes = 40, .restrictions = true};

}  // namespace

TEST_CASE("a balanced partition keeps together what exchanges tensors") {
  const test::Instance instance = test::build_instance(two_chains(), two_devices(1));
  const Hierarchy hierarchy(*instance.problem);
  const Assignment parts = balanced_partition(*instance.problem, hierarchy);
  for (uint32_t v = 0; v < 8; ++v) {
    CHECK(parts[v] == parts[0]);
    CHECK(parts[8 + v] == parts[8]);
  }
  CHECK(parts[0] != parts[8]);
}

TEST_CASE("a balanced partition gives a slow device its share and little more") {
  const test::Instance instance = test::build_instance(two_chains(), two_devices(4));
  const Hierarchy hierarchy(*instance.problem);
  const Assignment parts = balanced_partition(*instance.problem, hierarchy);
  // At equal finish the slow one would run 3.2 of the 16 nodes; a fifth more is allowed.
  CHECK(std::count(parts.begin(), parts.end(), 1u) <= 3);
}

TEST_CASE("a balanced partition obeys allowed devices and colocation") {
  Random random(51);
  for (uint32_t rules = 0; rules < test::kRuleSets; ++rules) {
    for (int i = 0; i < 10; ++i) {
      const test::Instance instance = test::random_instance(kShape, rules, random);
      if (!instance.problem) continue;
      const Hierarchy hierarchy(*instance.problem);
      CHECK(obeys_rules(*instance.problem, balanced_partition(*instance.problem, hierarchy)));
    }
  }
}

TEST_CASE("passes never lose the best placement they met") {
  Random random(52);
  for (uint32_t rules = 0; rules < test::kRuleSets; ++rules) {
    const test::Instance instance = test::random_instance(kShape, rules, random);
    if (!instance.problem) continue;
    const Problem& problem = *instance.problem;
    Passes passes(problem, 1, nullptr);
    passes.begin("start", test::random_assignment(problem, random));
    Evaluator evaluator(problem);
    for (int pass = 0; pass < 6; ++pass) {
      const Score before = passes.best().score;
      passes.run("pass");
      CHECK(passes.best().score <= before);
      CHECK(passes.best().score == evaluator.evaluate(passes.best().assignment));
      CHECK(obeys_rules(problem, passes.best().assignment));
    }
  }
}

TEST_CASE("rounds of search and passes are never worse than their start, and repeatable") {
  Random random(53);
  int better_than_start = 0;
  for (uint32_t rules = 0; rules < test::kRuleSets; ++rules) {
    const test::Instance instance = test::random_instance(kShape, rules, random);
    if (!instance.problem) continue;
    CAPTURE(rules);
    const Problem& problem = *instance.problem;
    const Assignment start = test::random_assignment(problem, random);
    const Hierarchy hierarchy(problem);
    Evaluator evaluator(problem);
    const Score before = evaluator.evaluate(start);
    for (uint64_t count : {1u, 3u, 50u, 200u}) {
      Budget budget;
      budget.evaluations = count;
      Candidate first{"search", start, {}}, second = first;
      MoveEvaluator moves(problem), again(problem);
      improve(problem, hierarchy, budget, 7, moves, first);
      improve(problem, hierarchy, budget, 7, again, second);
      CHECK(first.assignment == second.assignment);
      CHECK(first.score <= before);
      CHECK(first.score == evaluator.evaluate(first.assignment));
      CHECK(moves.evaluations() <= count);
      if (first.score < before) ++better_than_start;
    }
  }
  CHECK(better_than_start > 10);
}

}  // namespace placeto
