// Shapes that make naive loops quadratic. Nothing here is timed: at these sizes a method that is
// quadratic in nodes, edges or devices makes the suite visibly slow.
#include <doctest/doctest.h>

#include "runtime/placer/placer.h"
#include "tests/support/examples.h"
#include "tests/support/random_problem.h"
#include "tools/workloads/workload.h"

namespace placeto {
namespace {

enum class Wiring { kChain, kFanOut, kFanIn, kNone };

GraphSpec large_graph(Wiring wiring, uint32_t count) {
  GraphSpec graph;
  for (uint32_t v = 0; v < count; ++v) {
    graph.nodes.emplace_back();
    graph.nodes.back().name = "n" + std::to_string(v);
    graph.nodes.back().cost_us = {50.0 + v % 97};
    graph.nodes.back().outputs = {1000 + v % 1009 * 100};
    graph.nodes.back().resident_bytes = 1000;
  }
  for (uint32_t v = 1; v < count; ++v) {
    if (wiring == Wiring::kChain) graph.edges.push_back({v - 1, 0, v});
    if (wiring == Wiring::kFanOut) graph.edges.push_back({0, 0, v});
    if (wiring == Wiring::kFanIn) graph.edges.push_back({v, 0, 0});
  }
  return graph;
}

TopologySpec devices(uint32_t count, bool unlike, uint32_t rules) {
  TopologySpec topology;
  topology.name = "t";
  test::set_rules(rules, topology);
  topology.op_gap_us = 5.7;
  topology.default_link = {7600, 1, 25};
  for (uint32_t d = 0; d < count; ++d) {
    topology.devices.emplace_back();
    topology.devices.back().name = "gpu:" + std::to_string(d);
    topology.devices.back().kind = "gpu";
    if (unlike) topology.devices.back().slowdown = 1 + d * 0.001;
  }
  return topology;
}

void check_place(const Problem& problem, uint64_t search_evaluations) {
  MethodOptions options;
  options.budget.evaluations = search_evaluations;
  options.passes = 2;
  const Result<PlaceResult> placed = place_auto(problem, options);
  REQUIRE(placed.ok());
  CHECK(obeys_rules(problem, placed->best.assignment));
  CHECK(placed->bounds.best_us() <= placed->timeline.makespan_us * (1 + 1e-9));
}

}  // namespace

TEST_CASE("deep chains, wide stars and isolated nodes are placed under every kind of rules") {
  for (Wiring wiring : {Wiring::kChain, Wiring::kFanOut, Wiring::kFanIn, Wiring::kNone}) {
    for (uint32_t rules : {0u, 2u, 8u, 10u}) {  // the defaults, unicast, serial, both
      CAPTURE(static_cast<int>(wiring));
      CAPTURE(rules);
      const test::Instance instance = test::build_instance(
          large_graph(wiring, test::examples(50'000)), devices(4, false, rules));
      REQUIRE(instance.problem);
      check_place(*instance.problem, 5);
    }
  }
}

TEST_CASE("a thousand devices, alike or not, are a topology like any other") {
  WorkloadOptions options;
  options.nodes = 500;
  for (bool unlike : {false, true}) {
    for (uint32_t rules : {0u, 2u}) {
      CAPTURE(unlike);
      CAPTURE(rules);
      const test::Instance instance =
          test::build_instance(generate("layered", options).value(), devices(1000, unlike, rules));
      REQUIRE(instance.problem);
      check_place(*instance.problem, 20);
    }
  }
}

}  // namespace placeto
