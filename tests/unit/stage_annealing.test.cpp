// Annealing over placements and stages at once: by itself, and as part of `auto`.
#include "runtime/search/stage_annealing.h"

#include <doctest/doctest.h>

#include "runtime/placer/placer.h"
#include "tests/support/random_problem.h"

namespace placeto {
namespace {

// Annealed from what the best rule makes of a random placement, without any finish.
Candidate annealed(const Problem& problem, const Assignment& from, uint64_t evaluations) {
  Evaluator evaluator(problem);
  Candidate found{"annealed", from, evaluator.evaluate(from)};
  anneal_stages(
      {.evaluations = evaluations}, 7, evaluator, [](Candidate&) {}, found);
  return found;
}

// Whether stages are where their nodes are.
bool fits(const Candidate& candidate) {
  const Division& division = candidate.division;
  for (size_t v = 0; v < division.stage_of.size(); ++v) {
    if (division.stage_of[v] >= division.stage_count()) return false;
    if (division.device[division.stage_of[v]] != candidate.assignment[v]) return false;
  }
  return true;
}

}  // namespace

TEST_CASE("stages are annealed within the rules, never to worse, and more of it is never worse") {
  Random random(11);
  int better = 0, longer = 0;
  for (uint32_t rules = test::kStagedRules; rules < test::kRuleSets; ++rules) {
    for (int i = 0; i < 30; ++i) {
      const test::Instance instance = test::random_instance(
          {.most_nodes = 25, .most_devices = 4, .restrictions = i % 2 == 0}, rules, random);
      if (!instance.problem) continue;
      const Problem& problem = *instance.problem;
      CAPTURE(rules);
      CAPTURE(i);
      Evaluator evaluator(problem);
      const Assignment from = test::random_assignment(problem, random);
      Score last = evaluator.evaluate(from);
      for (const uint64_t evaluations : {10, 100, 150, 1'000}) {
        const Candidate found = annealed(problem, from, evaluations);
        CHECK(found.score <= last);
        (evaluations == 10 ? better : longer) += found.score < last;
        last = found.score;
        CHECK(obeys_rules(problem, found.assignment));
        if (found.division.empty()) continue;
        CHECK(fits(found));
        CHECK(evaluator.evaluate(found.assignment, found.division) == found.score);
      }
    }
  }
  CHECK(better > 50);
  CHECK(longer > 100);
}

// Seven operators that take about three times as long as starting a stage. Searched as placements
// alone, three devices give more than two, whatever the budget.
TEST_CASE("what no rule divides well is found, on three devices as on two") {
  GraphSpec graph;
  const double cost_us[] = {178, 109, 136, 129, 81, 167, 187};
  for (uint32_t v = 0; v < 7; ++v) {
    graph.nodes.emplace_back();
    graph.nodes[v].name = "n" + std::to_string(v);
    graph.nodes[v].cost_us = {cost_us[v]};
    graph.nodes[v].outputs = {1'000};
  }
  const std::pair<uint32_t, uint32_t> edges[] = {{5, 6}, {5, 3}, {5, 1}, {0, 4}, {4, 6}, {0, 3},
                                                 {6, 2}, {6, 3}, {1, 4}, {1, 6}, {1, 2}, {0, 1}};
  for (const auto& [source, target] : edges) graph.edges.push_back({source, 0, target});
  double on_two_us = 0;
  for (const uint32_t devices : {2, 3, 4}) {
    TopologySpec topology = test::equal_devices(devices);
    topology.execution = Execution::kStaged;
    topology.default_link = {.bandwidth_bytes_per_us = 7'600, .latency_us = 2};
    for (DeviceSpec& device : topology.devices) device.stage_us = 50;
    const test::Instance instance = test::build_instance(graph, topology);
    REQUIRE(instance.problem);
    const Result<PlaceResult> placed =
        place_auto(*instance.problem, {.budget = {.evaluations = 1'000}});
    REQUIRE(placed.ok());
    if (devices == 2) on_two_us = placed->timeline.makespan_us;
    CHECK(placed->timeline.makespan_us <= on_two_us);
  }
}

TEST_CASE("nothing is divided for what sums of the same times differ by") {
  Random random(3);
  for (int i = 0; i < 20; ++i) {
    GraphSpec graph = test::random_graph({.most_nodes = 20, .whole_numbers = false}, random);
    for (NodeSpec& node : graph.nodes) node.outputs.assign(node.outputs.size(), 0);
    TopologySpec topology = test::equal_devices(1);
    topology.execution = Execution::kStaged;
    const test::Instance instance = test::build_instance(std::move(graph), std::move(topology));
    if (!instance.problem) continue;
    CAPTURE(i);
    const Assignment alone(instance.problem->node_count(), 0);
    CHECK(annealed(*instance.problem, alone, 1'000).division.empty());
  }
}

}  // namespace placeto
