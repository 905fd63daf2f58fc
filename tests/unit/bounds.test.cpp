#include "runtime/cost/bounds.h"

#include <doctest/doctest.h>

#include "runtime/cost/simulator.h"
#include "runtime/placer/placer.h"
#include "tests/support/all_placements.h"
#include "tests/support/random_problem.h"

namespace placeto {

TEST_CASE("no placement of a small graph beats a lower bound, under any rule set") {
  Random random(31);
  for (uint32_t rules = 0; rules < test::kRuleSets; ++rules) {
    for (int i = 0; i < 40; ++i) {
      const test::RandomShape shape{.most_nodes = 6,
                                    .most_devices = 2,
                                    .whole_numbers = i % 2 == 0,
                                    .restrictions = i % 4 < 2};
      const test::Instance instance = test::random_instance(shape, rules, random);
      if (!instance.problem) continue;
      CAPTURE(rules);
      CAPTURE(i);
      const LowerBounds bounds = lower_bounds(*instance.problem);
      const double least = test::least_score(*instance.problem).objective_us;
      CHECK(bounds.critical_path_us <= least);
      CHECK(bounds.work_us <= least);
      CHECK(bounds.best_us() == std::max(bounds.critical_path_us, bounds.work_us));
    }
  }
}

TEST_CASE("no random placement of a larger graph beats a lower bound on unlike devices") {
  Random random(32);
  for (uint32_t rules = 0; rules < test::kRuleSets; ++rules) {
    for (int i = 0; i < 10; ++i) {
      const test::RandomShape shape{
          .most_nodes = 120, .most_devices = 6, .whole_numbers = i % 2 == 0, .restrictions = true};
      const test::Instance instance = test::random_instance(shape, rules, random);
      if (!instance.problem) continue;
      const double bound = lower_bounds(*instance.problem).best_us();
      Simulator simulator(*instance.problem);
      for (int k = 0; k < 10; ++k) {
        const Assignment assignment = test::random_assignment(*instance.problem, random);
        CHECK(simulator.makespan_us(assignment) >= bound);
      }
    }
  }
}

TEST_CASE("rounding raises no bound above what is proved to be best, however work is added up") {
  for (const Execution execution : {Execution::kParallel, Execution::kSerial, Execution::kStaged}) {
    GraphSpec graph;  // 2 -> 1 -> 0
    for (const double cost_us : {0.1, 0.2, 0.3}) {
      graph.nodes.emplace_back();
      graph.nodes.back().name = std::to_string(cost_us);
      graph.nodes.back().cost_us = {cost_us};
      graph.nodes.back().outputs = {1};
    }
    graph.edges = {{2, 0, 1}, {1, 0, 0}};
    TopologySpec topology = test::equal_devices(1);
    topology.execution = execution;
    const test::Instance instance = test::build_instance(std::move(graph), std::move(topology));
    REQUIRE(instance.problem);
    CHECK(lower_bounds(*instance.problem).best_us() <= (0.3 + 0.2) + 0.1);
    const Result<PlaceResult> placed = place_auto(*instance.problem, {});
    REQUIRE(placed.ok());
    CHECK(placed->proved);
    CHECK(placed->bounds.best_us() == placed->timeline.makespan_us);
  }
}

// Independent nodes of equal cost: the bound is reached.
TEST_CASE("the work bound is tight for equal independent nodes, with gaps and unlike devices") {
  GraphSpec graph;
  graph.kinds = {"gpu", "cpu"};
  for (uint32_t v = 0; v < 12; ++v) {
    graph.nodes.emplace_back();
    graph.nodes.back().name = "n" + std::to_string(v);
    graph.nodes.back().cost_us = {3, 7};
  }
  TopologySpec topology;
  topology.name = "t";
  topology.op_gap_us = 1;
  topology.default_link.bandwidth_bytes_per_us = 1;
  for (const char* kind : {"gpu", "cpu"}) {
    topology.devices.emplace_back();
    topology.devices.back().name = topology.devices.back().kind = kind;
  }
  const test::Instance instance = test::build_instance(graph, topology);
  REQUIRE(instance.problem);
  // 8 nodes on the gpu end at 8 * 4 - 1 = 31, 4 on the cpu at 4 * 8 - 1 = 31.
  const double bound = lower_bounds(*instance.problem).work_us;
  CHECK(bound <= 31);
  CHECK(bound >= 31 * 0.99);
}

TEST_CASE("gaps that are so long that runs are rounded away beside them raise no bound") {
  GraphSpec graph;
  graph.nodes.emplace_back();
  graph.nodes.back().name = "n";
  graph.nodes.back().cost_us = {3};
  TopologySpec topology;
  topology.name = "t";
  topology.op_gap_us = 1e16;  // and 3 is 1e16 + 4
  topology.devices.emplace_back();
  topology.devices.back().name = topology.devices.back().kind = "gpu";
  const test::Instance instance = test::build_instance(graph, topology);
  REQUIRE(instance.problem);
  CHECK(lower_bounds(*instance.problem).best_us() == 3);
}

}  // namespace placeto
