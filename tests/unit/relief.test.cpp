#include "runtime/search/relief.h"

#include <doctest/doctest.h>

#include <numeric>

#include "runtime/placer/placer.h"
#include "runtime/search/peak_memory.h"
#include "tests/support/random_problem.h"

namespace placeto {

TEST_CASE("all that a device holds at its peak goes with all of its nodes") {
  Random random(98);
  int peaks = 0;
  for (int i = 0; i < 400; ++i) {
    const test::Instance instance = test::random_instance(
        {.most_nodes = 30, .whole_numbers = i % 2 == 0}, static_cast<uint32_t>(i) % 16, random);
    if (!instance.problem) continue;
    const Problem& problem = *instance.problem;
    const Assignment assignment = test::random_assignment(problem, random);
    Simulator simulator(problem);
    const Timeline& timeline = simulator.run(assignment);
    PeakMemory memory(problem);
    memory.load(assignment, timeline);
    for (uint32_t d = 0; d < problem.device_count(); ++d) {
      std::vector<uint32_t> nodes;
      for (uint32_t v = 0; v < problem.node_count(); ++v) {
        if (assignment[v] == d) nodes.push_back(v);
      }
      memory.look_at(d);
      CAPTURE(i);
      CHECK(memory.freed_bytes(nodes) == static_cast<double>(timeline.peak_memory_bytes[d]));
      double alone = 0;
      for (const uint32_t v : nodes) alone += memory.freed_bytes({&v, 1});
      CHECK(alone <= memory.freed_bytes(nodes));
      ++peaks;
    }
  }
  CHECK(peaks > 500);
}

//   a --100 bytes--> b, c, on one device: with one reader leaves only what it makes itself
TEST_CASE("what others still read stays when a reader leaves") {
  GraphSpec graph;
  for (const char* name : {"a", "b", "c"}) {
    graph.nodes.emplace_back();
    graph.nodes.back().name = name;
    graph.nodes.back().cost_us = {10};
    graph.nodes.back().outputs = {name[0] == 'a' ? 100u : 7u};
  }
  graph.edges = {{0, 0, 1}, {0, 0, 2}};
  const test::Instance instance = test::build_instance(graph, test::equal_devices(2));
  REQUIRE(instance.problem);
  Simulator simulator(*instance.problem);
  const Assignment assignment{0, 0, 0};
  PeakMemory memory(*instance.problem);
  memory.load(assignment, simulator.run(assignment));
  memory.look_at(0);  // a's output and that of its first reader
  const uint32_t b = 1, c = 2;
  CHECK(memory.freed_bytes({&b, 1}) == 7);
  CHECK(memory.freed_bytes({&c, 1}) == 0);
  const std::vector<uint32_t> readers{b, c};
  CHECK(memory.freed_bytes(readers) == 107);
}

// The fast device holds half of the bytes. Half of the nodes have nearly all of the work.
TEST_CASE("what takes least time for its bytes leaves the full device") {
  GraphSpec graph;
  graph.kinds = {"gpu", "cpu"};
  for (uint32_t v = 0; v < 20; ++v) {
    graph.nodes.emplace_back();
    graph.nodes.back().name = "n" + std::to_string(v);
    const double us = v % 2 == 0 ? 100 : 1;
    graph.nodes.back().cost_us = {us, 20 * us};
    graph.nodes.back().resident_bytes = 100;
    graph.nodes.back().outputs = {1};
    if (v > 0) graph.edges.push_back({v - 1, 0, v});
  }
  TopologySpec topology = test::equal_devices(2);
  topology.devices[0].memory_bytes = 1'010;
  topology.devices[1].kind = "cpu";
  const test::Instance instance = test::build_instance(graph, topology);
  REQUIRE(instance.problem);
  MoveEvaluator evaluator(*instance.problem);
  Evaluator times(*instance.problem);
  Candidate found{"all on the fast one", Assignment(20, 0), {}};
  found.score = evaluator.rebase(found.assignment);
  REQUIRE_FALSE(found.score.feasible());
  relieve(400, Hierarchy(*instance.problem), evaluator, times, found);
  REQUIRE(found.score.feasible());
  CHECK(found.score == times.evaluate(found.assignment));
  int left = 0;  // of those that take long
  for (uint32_t v = 0; v < 20; v += 2) left += found.assignment[v] == 0 ? 0 : 1;
  CHECK(left <= 2);
}

TEST_CASE("relief makes nothing worse, obeys rules, and makes most of what can fit fit") {
  Random random(95);
  int lacking = 0, relieved = 0;
  for (int i = 0; i < 500; ++i) {
    const test::RandomShape shape{.most_nodes = 40, .restrictions = i % 3 == 0};
    Rules rules;
    if (i % 5 == 0) rules.objective = Objective::kThroughput;
    const test::Instance instance =
        test::random_instance(shape, static_cast<uint32_t>(i) % test::kRuleSets, random,
                              {.least = 60, .range = 200}, rules);
    if (!instance.problem || instance.problem->device_count() < 2) continue;
    const Problem& problem = *instance.problem;
    MoveEvaluator evaluator(problem);
    Evaluator times(problem);
    Candidate found{"random", test::random_assignment(problem, random), {}};
    const Score before = found.score = evaluator.rebase(found.assignment);
    if (before.feasible()) continue;
    relieve(400, Hierarchy(problem), evaluator, times, found);
    CAPTURE(i);
    CHECK(obeys_rules(problem, found.assignment));
    CHECK(found.score <= before);
    CHECK(found.score == times.evaluate(found.assignment));
    if (!place_auto(problem, {}).ok()) continue;
    ++lacking;
    relieved += found.score.feasible() ? 1 : 0;
  }
  CHECK(lacking > 30);
  CHECK(relieved > lacking * 3 / 4);
}

// Half of the network's bytes fit on the fast device. Earliest finish fills it with what comes
// first; what is best has nearly no run time on the slow one.
TEST_CASE("auto makes room on the fast device for what takes longest") {
  GraphSpec graph;
  graph.kinds = {"gpu", "cpu"};
  constexpr uint32_t kNodes = 60;
  for (uint32_t v = 0; v < kNodes; ++v) {
    graph.nodes.emplace_back();
    graph.nodes.back().name = "n" + std::to_string(v);
    const double us = v < kNodes / 2 ? 1 : 100;
    graph.nodes.back().cost_us = {us, 20 * us};
    graph.nodes.back().resident_bytes = 100;
    graph.nodes.back().outputs = {1};
    if (v > 0) graph.edges.push_back({v - 1, 0, v});
  }
  TopologySpec topology = test::equal_devices(2);
  topology.devices[0].memory_bytes = 3'100;
  topology.devices[1].kind = "cpu";
  const test::Instance instance = test::build_instance(graph, topology);
  REQUIRE(instance.problem);
  PlacingProgress progress;
  const Result<PlaceResult> placed = place_auto(*instance.problem, {.progress = &progress});
  REQUIRE(placed.ok());
  CHECK(placed->best.score.objective_us < 1.25 * (30 * 100 + 30 * 20));
  // Who watches is told of nothing that does not fit.
  CHECK(progress.best_us == placed->best.score.objective_us);
}

}  // namespace placeto
