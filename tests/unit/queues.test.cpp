#include "runtime/timeline/queues.h"

#include <doctest/doctest.h>

#include <algorithm>

#include "tests/support/placed_run.h"

namespace placeto {
namespace {

// Each node but the first reads from one or two of the ten before it, any of their outputs, and the
// edges are in any order: so are the transfers.
GraphSpec some_outputs_each(uint32_t nodes, Random& random) {
  GraphSpec graph;
  for (uint32_t v = 0; v < nodes; ++v) {
    graph.nodes.emplace_back();
    graph.nodes.back().name = "n" + std::to_string(v);
    graph.nodes.back().cost_us = {1 + 20 * random.uniform()};
    for (uint32_t i = 1 + random.below(3); i > 0; --i) {
      graph.nodes.back().outputs.push_back(10 + random.below(300));
    }
    if (v == 0) continue;
    const uint32_t reach = std::min(v, 10u), first = v - 1 - random.below(reach);
    const uint32_t second = v - 1 - random.below(reach);
    const auto any_output = [&](uint32_t node) {
      return random.below(static_cast<uint32_t>(graph.nodes[node].outputs.size()));
    };
    graph.edges.push_back({first, any_output(first), v});
    if (second != first) graph.edges.push_back({second, any_output(second), v});
  }
  for (uint32_t i = static_cast<uint32_t>(graph.edges.size()); i > 1; --i) {
    std::swap(graph.edges[i - 1], graph.edges[random.below(i)]);
  }
  return graph;
}

}  // namespace

TEST_CASE("latest starts count readers, the device's next node and the channel's next transfer") {
  const test::Instance instance = test::build_instance(test::two_pairs(), test::equal_devices(2));
  const test::PlacedRun run(*instance.problem, {0, 1, 0, 1});
  CHECK(run.order == std::vector<uint32_t>{0, 2, 1, 3});
  CHECK(run.queues.makespan_us() == 41);
  CHECK(run.queues.latest_start_us(3) == 40);
  CHECK(run.queues.latest_start_us(1) == 20);  // f is next
  CHECK(run.queues.latest_start_us(2) == 20);  // its tensor has to be on the way at 30
  CHECK(run.queues.latest_start_us(0) == 0);
}

TEST_CASE("a channel carries what one node sends in the order of its out-edges") {
  GraphSpec graph = test::two_pairs();
  graph.nodes[0].outputs = {100, 200};
  graph.edges = {{0, 1, 1}, {0, 0, 3}};  // the second output first
  const test::Instance instance = test::build_instance(std::move(graph), test::equal_devices(2));
  const test::PlacedRun run(*instance.problem, {0, 1, 0, 1});
  const uint32_t first = instance.problem->graph().output_begin(0);
  CHECK(run.queues.send_to(first + 1, 1)->arrival_us == 30);
  CHECK(run.queues.send_to(first, 1)->arrival_us == 40);
  CHECK(run.evaluator.start_us()[1] == 30);
}

TEST_CASE(
    "transfers arrive before their readers start, nothing starts after its latest start, and "
    "something just then") {
  Random random(71);
  for (uint32_t rules = 0; rules < 8; ++rules) {  // nodes run in parallel
    CAPTURE(rules);
    for (int i = 0; i < 5; ++i) {
      TopologySpec topology = test::equal_devices(2 + random.below(4));
      test::set_rules(rules, topology);
      topology.op_gap_us = 2;
      topology.default_link.gap_us = 3;
      topology.default_link.latency_us = 5;
      const test::Instance instance = test::build_instance(some_outputs_each(80, random), topology);
      const Problem& problem = *instance.problem;
      const test::PlacedRun run(problem, test::random_assignment(problem, random));
      uint32_t critical = 0;
      for (uint32_t v = 0; v < problem.node_count(); ++v) {
        const double rounding_us = 1e-9 * run.queues.makespan_us();
        CHECK(run.queues.slack_us(v) >= -rounding_us);
        critical += run.queues.slack_us(v) < rounding_us;
        for (const InEdge& in : problem.graph().in_edges(v)) {
          const Queues::Send* const send = run.queues.send_to(in.output, run.assignment[v]);
          if (run.assignment[in.source] == run.assignment[v]) continue;
          REQUIRE(send != nullptr);
          CHECK(send->arrival_us <= run.evaluator.start_us()[v] + rounding_us);
        }
      }
      CHECK(critical > 0);
    }
  }
}

}  // namespace placeto
