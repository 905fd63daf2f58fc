#include "runtime/search/exhaustive.h"

#include <doctest/doctest.h>

#include "tests/support/all_divisions.h"
#include "tests/support/all_placements.h"
#include "tests/support/random_problem.h"
#include "tests/support/shrinking_branches.h"

namespace placeto {
namespace {

Candidate any_start(const Problem& problem, Random& random) {
  Candidate start{"start", test::random_assignment(problem, random), {}};
  Evaluator evaluator(problem);
  start.score = evaluator.evaluate(start.assignment);
  return start;
}

}  // namespace

TEST_CASE(
    "what is proved optimal is as good as the best of all placements, under every rule set that it "
    "serves") {
  Random random(71);
  int solved = 0;
  for (uint32_t rules = 0; rules < test::kRuleSets; ++rules) {
    for (int i = 0; i < 36; ++i) {
      const test::RandomShape shape{.most_nodes = i % 3 == 0 ? 7u : 6u,
                                    .most_devices = i % 3 == 0 ? 2u : 3u,
                                    .whole_numbers = i % 2 == 0,
                                    .restrictions = i % 4 < 2};
      Rules caller;
      if (i % 8 == 7) caller.objective = Objective::kThroughput;
      const test::RandomMemory memory{50, i % 3 == 0 ? 200u : 0u};
      const test::Instance instance = test::random_instance(shape, rules, random, memory, caller);
      if (!instance.problem || !exact_applies(*instance.problem)) continue;
      if (instance.problem->is_staged()) continue;  // below
      CAPTURE(rules);
      CAPTURE(i);
      const Problem& problem = *instance.problem;
      Candidate best = any_start(problem, random);
      REQUIRE(exhaustive_search(problem, most_branches(problem), nullptr, best));
      const Score least = test::least_score(problem);
      CHECK(best.score.overflow_bytes == least.overflow_bytes);
      CHECK(best.score.objective_us <= least.objective_us * (1 + 3e-9));
      CHECK(obeys_rules(problem, best.assignment));
      ++solved;
    }
  }
  CHECK(solved > 500);
}

TEST_CASE("what is proved of stages that serve a stream holds for every division") {
  Random random(72);
  int proved = 0, problems = 0;
  for (int i = 0; i < 400; ++i) {
    const test::RandomShape shape{.most_nodes = 5, .most_devices = 3, .restrictions = i % 4 == 0};
    Rules caller;
    caller.objective = Objective::kThroughput;
    const test::RandomMemory memory{50, i % 3 == 0 ? 400u : 0u};
    const test::Instance instance =
        test::random_instance(shape, test::kStagedRules + random.below(8), random, memory, caller);
    if (!instance.problem) continue;
    const Problem& problem = *instance.problem;
    REQUIRE(exact_applies(problem));
    Candidate best = any_start(problem, random);
    ++problems;
    if (!exhaustive_search(problem, most_branches(problem), nullptr, best)) continue;
    ++proved;
    const Score least = test::least_of_all_divisions(problem);
    CHECK(best.score.overflow_bytes == least.overflow_bytes);
    CHECK(best.score.objective_us <= least.objective_us * (1 + 3e-9));
  }
  CHECK(proved > problems / 2);
}

TEST_CASE("what is proved of stages that serve one request holds for every division and order") {
  Random random(74);
  int proved = 0, divided = 0, problems = 0;
  for (int i = 0; i < 400; ++i) {
    const test::RandomShape shape{.most_nodes = i % 8 == 0 ? 5u : 4u,
                                  .most_devices = i % 8 == 0 ? 2u : 3u,
                                  .whole_numbers = i % 3 != 0,
                                  .restrictions = i % 4 == 0};
    const test::RandomMemory memory{50, i % 3 == 0 ? 400u : 0u};
    const test::Instance instance =
        test::random_instance(shape, test::kStagedRules + random.below(8), random, memory);
    if (!instance.problem) continue;
    const Problem& problem = *instance.problem;
    REQUIRE(exact_applies(problem));
    Candidate best = any_start(problem, random);
    ++problems;
    if (!exhaustive_search(problem, most_branches(problem), nullptr, best)) continue;
    ++proved;
    divided += !best.division.empty();
    const Score least = test::least_of_all_divisions(problem);
    CAPTURE(i);
    CHECK(best.score.overflow_bytes == least.overflow_bytes);
    CHECK(best.score.objective_us <= least.objective_us * (1 + 3e-9));
    CHECK(best.score == Evaluator(problem).evaluate(best.assignment, best.division));
  }
  CHECK(proved == problems);
  CHECK(divided > 2);
}

TEST_CASE("stages that fit one device in but few orders are found, and that none fits is proved") {
  for (const uint64_t lacking : {0, 1}) {
    const test::Instance instance = test::shrinking_branches(9, lacking);
    REQUIRE(instance.problem);
    const Problem& problem = *instance.problem;
    Candidate best{"start", Assignment(problem.node_count(), 0), {}};
    best.score = Evaluator(problem).evaluate(best.assignment);
    REQUIRE(!best.score.feasible());
    REQUIRE(exhaustive_search(problem, most_branches(problem), nullptr, best));
    CHECK(best.score.overflow_bytes == lacking);
  }
}

TEST_CASE("only groups that more than one device may run count, and pins leave few of those") {
  Random random(73);
  int solved = 0;
  for (int i = 0; i < 30; ++i) {
    const test::RandomShape shape{.most_nodes = 120, .whole_numbers = i % 2 == 0};
    GraphSpec graph = test::random_graph(shape, random);
    if (graph.nodes.size() < 30) continue;
    const auto devices = 2 + static_cast<uint32_t>(i % 3);
    Rules caller;
    const auto free = static_cast<uint32_t>(i % 6);
    for (uint32_t v = free; v < graph.nodes.size(); ++v) {
      caller.pins.push_back({v, random.below(devices)});
    }
    const test::Instance instance =
        test::build_instance(std::move(graph), test::equal_devices(devices), caller);
    if (!instance.problem) continue;
    CAPTURE(i);
    const Problem& problem = *instance.problem;
    REQUIRE(exact_applies(problem));
    Candidate best{"start", test::random_assignment(problem, random), {}};
    Evaluator evaluator(problem);
    best.score = evaluator.evaluate(best.assignment);
    REQUIRE(exhaustive_search(problem, most_branches(problem), nullptr, best));
    CHECK(best.score.objective_us <= test::least_score(problem).objective_us * (1 + 3e-9));
    ++solved;
  }
  CHECK(solved > 10);
}

// Most branches seem to have room, until the last groups have none.
TEST_CASE("that nothing can come closer to fitting is proved by what is still to be placed") {
  GraphSpec graph;
  for (int v = 0; v < 12; ++v) {
    graph.nodes.emplace_back();
    graph.nodes.back().name = "n" + std::to_string(v);
    graph.nodes.back().cost_us = {1};
    graph.nodes.back().resident_bytes = 100;
  }
  TopologySpec topology = test::equal_devices(4);
  for (DeviceSpec& device : topology.devices) device.memory_bytes = 200;
  const test::Instance instance = test::build_instance(graph, topology);
  REQUIRE(instance.problem);
  Random random(72);
  Candidate best = any_start(*instance.problem, random);
  CHECK(exhaustive_search(*instance.problem, 100, nullptr, best));
  CHECK(best.score.overflow_bytes == 400);
  CHECK(best.score.objective_us == 3);
}

// Staged, an output is sent to others in the order of their indices.
TEST_CASE("an optimum that depends on which of two equal devices is sent to first is found") {
  constexpr double kCosts[] = {10, 50, 60, 10, 57, 1, 28, 45};
  constexpr uint64_t kBytes[] = {2500, 2700, 0, 1000, 0, 0, 0, 0};
  GraphSpec graph;
  for (uint32_t v = 0; v < std::size(kCosts); ++v) {
    graph.nodes.emplace_back();
    graph.nodes.back().name = "n" + std::to_string(v);
    graph.nodes.back().cost_us = {kCosts[v]};
    graph.nodes.back().outputs = {kBytes[v]};
  }
  for (const auto& [from, to] : {std::pair{0u, 2u}, {0u, 4u}, {0u, 7u}, {1u, 7u}, {3u, 7u}}) {
    graph.edges.push_back({from, 0, to});
  }
  TopologySpec topology = test::equal_devices(3);
  topology.execution = Execution::kStaged;
  topology.transfer = Transfer::kUnicast;
  topology.op_gap_us = 0;
  topology.default_link = {.bandwidth_bytes_per_us = 100};
  const test::Instance instance = test::build_instance(graph, topology);
  REQUIRE(instance.problem);
  Candidate best{"start", Assignment(graph.nodes.size(), 0), {}};
  best.score = Evaluator(*instance.problem).evaluate(best.assignment);
  REQUIRE(exhaustive_search(*instance.problem, most_branches(*instance.problem), nullptr, best));
  CHECK(best.score.objective_us == 105);
}

// Exchanged, the equal ones free their channels in another order, which the third device keeps.
TEST_CASE("an optimum that depends on which of two equal devices sends first is found") {
  constexpr double kCosts[][2] = {{1, 10}, {1, 2}, {3, 1}, {3, 5}, {5, 10}, {5, 3}, {3, 2}};
  GraphSpec graph;
  graph.kinds = {"x", "y"};
  for (const auto& cost : kCosts) {
    graph.nodes.emplace_back();
    graph.nodes.back().name = "n" + std::to_string(graph.nodes.size());
    graph.nodes.back().cost_us = {cost[0], cost[1]};
    graph.nodes.back().outputs = {0};
  }
  for (const auto& [from, to] :
       {std::pair{1u, 2u}, {2u, 3u}, {0u, 4u}, {2u, 4u}, {0u, 5u}, {0u, 6u}, {3u, 6u}, {5u, 6u}}) {
    graph.edges.push_back({from, 0, to});
  }
  TopologySpec topology = test::equal_devices(3);
  for (uint32_t d = 0; d < 3; ++d) topology.devices[d].kind = d < 2 ? "x" : "y";
  const test::Instance instance = test::build_instance(std::move(graph), std::move(topology));
  REQUIRE(instance.problem);
  Random random(74);
  Candidate best = any_start(*instance.problem, random);
  REQUIRE(exhaustive_search(*instance.problem, most_branches(*instance.problem), nullptr, best));
  CHECK(best.score.objective_us == 7);
}

TEST_CASE("12 nodes on 4 devices, and 10 on 10, are solved, whatever they exchange") {
  Random random(72);
  for (int i = 0; i < 12; ++i) {
    GraphSpec graph = test::random_graph({.most_nodes = 14, .whole_numbers = false}, random);
    const bool wide = i % 3 == 2;
    while (graph.nodes.size() != (wide ? 10u : 12u)) {
      graph = test::random_graph({.most_nodes = 14, .whole_numbers = false}, random);
    }
    const test::Instance instance =
        test::build_instance(std::move(graph), test::equal_devices(wide ? 10 : 4));
    REQUIRE(instance.problem);
    CAPTURE(i);
    Candidate best = any_start(*instance.problem, random);
    CHECK(exhaustive_search(*instance.problem, most_branches(*instance.problem), nullptr, best));
  }
}

TEST_CASE(
    "a search that runs out of branches, or is stopped, proves nothing and returns no worse") {
  Random random(73);
  GraphSpec graph = test::random_graph({.most_nodes = 14, .whole_numbers = false}, random);
  while (graph.nodes.size() < 12 || graph.edges.size() < 12) {
    graph = test::random_graph({.most_nodes = 14, .whole_numbers = false}, random);
  }
  const test::Instance instance = test::build_instance(std::move(graph), test::equal_devices(4));
  REQUIRE(instance.problem);
  const Candidate start = any_start(*instance.problem, random);
  Candidate best = start;
  CHECK(!exhaustive_search(*instance.problem, 20, nullptr, best));
  CHECK(best.score <= start.score);
  const std::atomic<bool> cancel = true;
  Stop stop(&cancel);
  CHECK(stop.requested());
  best = start;
  CHECK(!exhaustive_search(*instance.problem, most_branches(*instance.problem), &stop, best));
  CHECK(best.score <= start.score);
}

}  // namespace placeto
