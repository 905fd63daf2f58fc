// Searches under staged execution, and the simplest of what is about as good.
#include "runtime/search/stage_search.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include "runtime/cost/staged.h"
#include "runtime/placer/placer.h"
#include "runtime/search/all_placements.h"
#include "tests/support/all_divisions.h"
#include "tests/support/all_placements.h"
#include "tests/support/examples.h"
#include "tests/support/random_problem.h"

namespace placeto {
namespace {

// Five nodes in a chain; the fourth runs ten times faster on the second kind of device, whatever
// passes costs 5 twice.
test::Instance chain_beside(double fast_us) {
  GraphSpec graph;
  graph.name = "chain";
  graph.kinds = {"cpu", "npu"};
  for (uint32_t v = 0; v < 5; ++v) {
    graph.nodes.emplace_back();
    graph.nodes[v].name = std::to_string(v);
    graph.nodes[v].cost_us = {100, v == 3 ? fast_us : 300};
    graph.nodes[v].outputs = {10};
    if (v > 0) graph.edges.push_back({v - 1, 0, v});
  }
  TopologySpec topology;
  topology.name = "edge";
  topology.execution = Execution::kStaged;
  topology.default_link.bandwidth_bytes_per_us = 10;
  topology.devices.resize(2);
  topology.devices[0].name = topology.devices[0].kind = "cpu";
  topology.devices[1].name = topology.devices[1].kind = "npu";
  for (DeviceSpec& device : topology.devices) device.cut_us = 5;
  return test::build_instance(std::move(graph), std::move(topology));
}

PlaceResult placed(const Problem& problem, double tolerance) {
  MethodOptions options;
  options.tolerance = tolerance;
  Result<PlaceResult> result = place_auto(problem, options);
  REQUIRE(result.ok());
  return std::move(*result);
}

// How often a placing looks at the clock.
uint64_t looks_of(const Problem& problem) {
  uint64_t looks = 0;
  const auto count = [](void* counter) { return ++*static_cast<uint64_t*>(counter) == 0; };
  Stop stop(count, &looks);
  MethodOptions options;
  options.stop = &stop;
  REQUIRE(place_auto(problem, options).ok());
  return looks;
}

}  // namespace

TEST_CASE("stages that nothing can merge or move take work in proportion to their number") {
  uint64_t before = 0;
  for (const uint32_t nodes : {2'000u, 4'000u, 8'000u}) {
    GraphSpec graph;
    for (uint32_t v = 0; v < nodes; ++v) {
      graph.nodes.emplace_back();
      graph.nodes[v].name = std::to_string(v);
      graph.nodes[v].cost_us = {10};
      graph.nodes[v].outputs = {10};
      graph.nodes[v].allowed_kinds = {v % 2 == 0 ? "cpu" : "npu"};
      if (v > 0) graph.edges.push_back({v - 1, 0, v});
    }
    const test::Instance chain =
        test::build_instance(std::move(graph), chain_beside(1).topology->spec());
    const uint64_t looks = looks_of(*chain.problem);
    if (before > 0) CHECK(looks < 3 * before);
    before = looks;
  }
}

TEST_CASE("contiguous splits find the boundaries that pay on a chain of unlike devices") {
  const test::Instance instance = chain_beside(10);
  Evaluator evaluator(*instance.problem);
  double best = evaluator.evaluate(Assignment(5, 0)).objective_us;
  CHECK(best == 500);
  for (const Assignment& split : contiguous_splits(*instance.problem)) {
    best = std::min(best, evaluator.evaluate(split).objective_us);
  }
  CHECK(best == 400 + 10 + 4 * 5 + 2 * 1);  // three parts, two cuts, two transfers
}

TEST_CASE("auto leaves one device for what it gains, and stays within the tolerance of it") {
  const test::Instance instance = chain_beside(10);
  CHECK(placed(*instance.problem, 0).timeline.makespan_us == 432);
  CHECK(placed(*instance.problem, 0.1).timeline.stages.size() == 3);  // 500 is 16% more
  const PlaceResult simple = placed(*instance.problem, 0.2);
  CHECK(simple.best.assignment == Assignment(5, 0));
  CHECK(simple.timeline.makespan_us == 500);
}

TEST_CASE("within a tolerance nothing has fewer stages, and what leaves one device gains as much") {
  Random random(41);
  int simpler = 0;
  for (int i = 0; i < 80; ++i) {
    const test::Instance instance = test::random_instance(
        {.most_nodes = 30, .whole_numbers = false}, test::kStagedRules, random);
    if (!instance.problem) continue;
    const PlaceResult best = placed(*instance.problem, 0);
    const PlaceResult within = placed(*instance.problem, 0.1);
    CHECK(within.timeline.makespan_us <= best.timeline.makespan_us * (1.1 + 1e-9));
    CHECK(within.timeline.stages.size() <= best.timeline.stages.size());
    simpler += within.timeline.stages.size() < best.timeline.stages.size() ? 1 : 0;
    Evaluator evaluator(*instance.problem);
    double least_us = best.timeline.makespan_us;
    double alone_us = std::numeric_limits<double>::infinity();
    for (const Candidate& candidate : within.candidates) {
      least_us = std::min(least_us, candidate.score.objective_us);
      const bool alone =
          std::set(candidate.assignment.begin(), candidate.assignment.end()).size() == 1;
      if (alone) alone_us = std::min(alone_us, candidate.score.objective_us);
    }
    const bool leaves =
        std::set(within.best.assignment.begin(), within.best.assignment.end()).size() > 1;
    if (leaves) CHECK(within.timeline.makespan_us * 1.1 <= alone_us * (1 + 1e-9));
    for (const Candidate& candidate : within.candidates) {
      const double us = candidate.score.objective_us;
      if (us > least_us * (1.1 - 1e-9) || (leaves && us * 1.1 > alone_us * (1 - 1e-9))) continue;
      CHECK(count_stages(candidate, evaluator) >= within.timeline.stages.size());
    }
  }
  CHECK(simpler > 0);
}

TEST_CASE("within a tolerance no placement of a small graph has fewer stages") {
  constexpr double kTolerance = 0.25;
  Random random(46);
  int compared = 0;
  for (int i = 0; i < 300; ++i) {
    const test::Instance instance =
        test::random_instance({.most_nodes = 6, .most_devices = 3, .whole_numbers = false},
                              test::kStagedRules + random.below(8), random);
    if (!instance.problem) continue;
    const Problem& problem = *instance.problem;
    MethodOptions options;
    options.tolerance = kTolerance;
    const PlaceOutcome within = place_auto(problem, options);
    if (!within.ok()) continue;
    CAPTURE(i);
    ++compared;
    double least_us = within->timeline.makespan_us;
    for (const Candidate& candidate : within->candidates) {
      if (candidate.score.feasible()) {
        least_us = std::min(least_us, candidate.score.objective_us);
      }
    }
    Evaluator evaluator(problem);
    test::each_assignment(problem, [&](const Assignment& assignment) {
      const Score score = evaluator.evaluate(assignment);
      if (!score.feasible() || score.objective_us > least_us * (1 + kTolerance - 1e-9)) return;
      CHECK(count_stages({{}, assignment, score}, evaluator) >= within->timeline.stages.size());
    });
  }
  CHECK(compared > 200);
}

TEST_CASE("where memory lacks, a tolerance changes nothing but what is handed out") {
  Random random(45);
  int compared = 0;
  for (int i = 0; i < 150; ++i) {
    const test::Instance instance = test::random_instance({.most_nodes = 40, .most_devices = 4},
                                                          test::kStagedRules, random, {200, 500});
    if (!instance.problem) continue;
    MethodOptions options;
    const PlaceOutcome best = place_auto(*instance.problem, options);
    if (!best.ok()) continue;
    options.tolerance = 0.1;
    const PlaceOutcome within = place_auto(*instance.problem, options);
    REQUIRE(within.ok());
    CAPTURE(i);
    CHECK(within->timeline.makespan_us <= best->timeline.makespan_us * (1.1 + 1e-9));
    ++compared;
  }
  CHECK(compared > 50);
}

TEST_CASE("refining makes no placement worse, and its division gives the score that it says") {
  Random random(42);
  int better = 0;
  for (int i = 0; i < 200; ++i) {
    const test::Instance instance =
        test::random_instance({.most_nodes = 30, .restrictions = i % 2 == 0},
                              test::kStagedRules + random.below(8), random);
    if (!instance.problem) continue;
    Evaluator evaluator(*instance.problem);
    Candidate candidate;
    candidate.assignment = test::random_assignment(*instance.problem, random);
    candidate.score = evaluator.evaluate(candidate.assignment);
    const Score before = candidate.score;
    refine_stages(100, evaluator, candidate);
    CHECK(candidate.score <= before);
    better += candidate.score < before ? 1 : 0;
    CHECK(obeys_rules(*instance.problem, candidate.assignment));
    CHECK(evaluator.evaluate(candidate.assignment, candidate.division) == candidate.score);
    const uint32_t stages = candidate.division.stage_count();
    simplify_stages(100, candidate.score.objective_us * 1.2, evaluator, candidate);
    CHECK(candidate.division.stage_count() <= stages);
    CHECK(candidate.score.overflow_bytes <= before.overflow_bytes);
  }
  CHECK(better > 50);
}

TEST_CASE("a device takes first what another one waits for, though it was not ready first") {
  GraphSpec graph;
  graph.kinds = {"gpu", "cpu"};
  graph.nodes.resize(4);
  for (uint32_t v = 0; v < 4; ++v) graph.nodes[v].name = std::to_string(v);
  graph.nodes[0].cost_us = {0, 0};
  graph.nodes[1].cost_us = {5, 15};
  graph.nodes[1].outputs = {4};
  graph.nodes[2].cost_us = {0, -1};
  graph.nodes[3].cost_us = {5, 5};
  graph.edges = {{1, 0, 0}, {2, kControlEdge, 3}};
  TopologySpec topology = test::equal_devices(2);
  topology.execution = Execution::kStaged;
  topology.devices[1].kind = "cpu";
  topology.devices[1].name = "cpu:0";
  const test::Instance instance = test::build_instance(std::move(graph), std::move(topology));
  REQUIRE(instance.problem);
  CHECK(placed(*instance.problem, 0).best.score.objective_us == 5);
}

TEST_CASE("stages of tiny graphs are within a thousandth of the best divisions and orders") {
  Random random(5);
  double sum = 0;
  const int examples = test::examples(60);
  int count = 0;
  while (count < examples) {
    GraphSpec graph;
    for (uint32_t v = 0; v < 5; ++v) {
      NodeSpec& node = graph.nodes.emplace_back();
      node.cost_us = {1 + 19 * random.uniform()};
      node.outputs = {1 + random.below(100)};
      for (uint32_t u = 0; u < v; ++u) {
        if (random.below(3) == 0) graph.edges.push_back({u, 0, v});
      }
    }
    TopologySpec topology = test::equal_devices(2);
    topology.execution = Execution::kStaged;
    topology.devices[1].slowdown = 2;
    for (DeviceSpec& device : topology.devices) {
      device.stage_us = random.below(10);
      device.cut_us = random.below(4);
    }
    const test::Instance instance = test::build_instance(std::move(graph), std::move(topology));
    REQUIRE(instance.problem);
    const double least = test::least_of_all_divisions(*instance.problem).objective_us;
    const double found = placed(*instance.problem, 0).best.score.objective_us;
    sum += std::log(found / least);
    ++count;
  }
  CHECK(std::exp(sum / count) < 1.001);
}

TEST_CASE("of all placements, the best of those that there was time for is kept") {
  GraphSpec graph;
  for (uint32_t v = 0; v < 13; ++v) {
    graph.nodes.emplace_back();
    graph.nodes[v].name = std::to_string(v);
    graph.nodes[v].cost_us = {10};
  }
  TopologySpec topology = test::equal_devices(2);
  topology.execution = Execution::kStaged;
  const test::Instance instance = test::build_instance(std::move(graph), std::move(topology));
  REQUIRE(instance.problem);
  uint64_t looks = 0;
  const auto ask = [](void* left) { return --*static_cast<uint64_t*>(left) == 0; };
  const auto best_within = [&](uint64_t most_looks) {
    looks = most_looks;
    Stop stop(ask, &looks, 1'000);
    Evaluator evaluator(*instance.problem, &stop);
    const Assignment alone(13, 0);
    Candidate best{"all", alone, evaluator.evaluate(alone)};
    try_all_placements(evaluator, best);
    CHECK(Evaluator(*instance.problem).evaluate(best.assignment) == best.score);
    return best.score.objective_us;
  };
  constexpr uint64_t kEndless = 1'000'000;
  CHECK(best_within(kEndless) == 70);
  const uint64_t taken = kEndless - looks;
  REQUIRE(taken > 10);
  CHECK(best_within(taken / 10) < 130);
}

TEST_CASE("a search beyond the size that is polished hands out stages of its own placement") {
  GraphSpec graph;
  Random random(43);
  for (uint32_t v = 0; v < 900; ++v) {
    graph.nodes.emplace_back();
    graph.nodes[v].name = std::to_string(v);
    graph.nodes[v].cost_us = {static_cast<double>(10 + random.below(90))};
    graph.nodes[v].outputs = {1 + random.below(100)};
    for (const uint32_t back : {4u, 5u + random.below(20)}) {
      if (v >= back) graph.edges.push_back({v - back, 0, v});
    }
  }
  TopologySpec topology = test::equal_devices(3);
  test::set_rules(test::kStagedRules, topology);
  for (DeviceSpec& device : topology.devices) device.cut_us = 20;
  const test::Instance instance = test::build_instance(graph, topology);
  const Problem& problem = *instance.problem;
  MethodOptions options;
  options.budget.evaluations = 1'000;
  const Result<PlaceResult> found = place_auto(problem, options);
  REQUIRE(found.ok());
  bool searched = false;
  for (const Candidate& candidate : found->candidates) {
    searched = searched || candidate.method == "search";
    for (uint32_t v = 0; v < candidate.division.stage_of.size(); ++v) {
      REQUIRE(candidate.division.device[candidate.division.stage_of[v]] == candidate.assignment[v]);
    }
    CHECK(Evaluator(problem).evaluate(candidate.assignment, candidate.division) == candidate.score);
  }
  CHECK(searched);
}

}  // namespace placeto
