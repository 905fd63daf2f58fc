// The C interface: why a node is where it is.
#include <doctest/doctest.h>

#include "tests/unit/capi_support.h"

using namespace capi_test;

namespace {

placeto_reason reason_for(const Placement& placement, uint32_t node) {
  placeto_reason reason;
  reason.struct_size = sizeof reason;
  placeto_error error;
  REQUIRE_MESSAGE(placeto_placement_explain(placement.get(), node, &reason, &error) == PLACETO_OK,
                  error.message);
  return reason;
}

}  // namespace

TEST_CASE("a placement outlives what it was made from, and explains itself") {
  Graph graph = diamond();
  Topology topology = devices(2);
  const Placement placement = place(graph, topology);
  graph.reset();
  topology.reset();
  const uint32_t left = placeto_placement_device(placement.get(), 1);
  const placeto_reason reason = reason_for(placement, 1);
  CHECK(reason.device == left);
  CHECK(reason.group_nodes == 1);
  CHECK(reason.allowed_devices == 2);
  CHECK(reason.second_device == 1 - left);
  CHECK(reason.cost_us == doctest::Approx(103));
  CHECK(reason.second_cost_us > 200);  // both branches on one device
  CHECK(reason.second_feasible == 1);
}

TEST_CASE("a reason tells what scoring the other placement tells, for every node and objective") {
  const Graph graph = ladder(4);
  const Topology topology = devices(3, 1'000);
  for (const int32_t objective : {PLACETO_LATENCY, PLACETO_THROUGHPUT}) {
    placeto_options chosen = options();
    chosen.objective = objective;
    const Placement placement = place(graph, topology, chosen);
    const auto cost = [&](const Placement& p) {
      return objective == PLACETO_LATENCY ? placeto_placement_makespan_us(p.get())
                                          : placeto_placement_bottleneck_us(p.get());
    };
    for (uint32_t v = 0; v < placeto_graph_node_count(graph.get()); ++v) {
      const placeto_reason reason = reason_for(placement, v);
      CHECK(reason.cost_us == cost(placement));
      uint32_t best = PLACETO_NONE;
      std::pair<bool, double> best_cost;  // does not fit, cost
      for (uint32_t d = 0; d < 3; ++d) {
        if (d == reason.device) continue;
        std::vector<uint32_t> moved = assignment_of(placement);
        moved[v] = d;
        const Placement other = score(graph, topology, moved, chosen);
        const std::pair<bool, double> other_cost(placeto_placement_feasible(other.get()) == 0,
                                                 cost(other));
        if (best != PLACETO_NONE && !(other_cost < best_cost)) continue;
        best = d;
        best_cost = other_cost;
      }
      // Ties among what does not fit are broken by overflow, which this check does not see.
      if (best_cost.first) continue;
      CHECK(reason.second_device == best);
      CHECK(reason.second_cost_us == best_cost.second);
      CHECK(reason.second_feasible == 1);
    }
  }
}

TEST_CASE("colocated nodes are explained together, and a pinned node has no second device") {
  const GraphBuilder builder = graph_builder("keys");
  add_node(builder.get(), "a", 10, 10, "key");
  add_node(builder.get(), "b", 10, 10, "key");
  add_node(builder.get(), "c", 10, 10);
  const Graph graph = build(builder);
  const placeto_node_device pins[] = {{2, 1}};
  placeto_options rules = options();
  rules.pins = pins;
  rules.pin_count = 1;
  const Placement placement = place(graph, devices(2), rules);
  CHECK(reason_for(placement, 0).group_nodes == 2);
  const placeto_reason pinned = reason_for(placement, 2);
  CHECK(pinned.device == 1);
  CHECK(pinned.allowed_devices == 1);
  CHECK(pinned.second_device == PLACETO_NONE);
  CHECK(pinned.second_cost_us == 0);
  CHECK(pinned.second_feasible == 0);
}

TEST_CASE("explaining refuses what it cannot read") {
  const Placement placement = place(diamond(), devices(2));
  placeto_reason reason;
  reason.struct_size = sizeof reason;
  placeto_error error;
  CHECK(placeto_placement_explain(nullptr, 0, &reason, &error) == PLACETO_INVALID_ARGUMENT);
  CHECK(placeto_placement_explain(placement.get(), 0, nullptr, &error) == PLACETO_INVALID_ARGUMENT);
  CHECK(placeto_placement_explain(placement.get(), 4, &reason, &error) == PLACETO_INVALID_ARGUMENT);
  CHECK(mentions(error, "node is 4"));
  reason.struct_size = 4;
  CHECK(placeto_placement_explain(placement.get(), 0, &reason, &error) == PLACETO_INVALID_ARGUMENT);
}
