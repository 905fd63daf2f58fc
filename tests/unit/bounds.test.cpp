#include "runtime/cost/bounds.h"

#include <doctest/doctest.h>

#include "runtime/cost/simulator.h"
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
      const double least = test::least_score(*instance.problem).objective_us * (1 + 1e-9);
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
        CHECK(simulator.makespan_us(assignment) * (1 + 1e-9) >= bound);
      }
    }
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
