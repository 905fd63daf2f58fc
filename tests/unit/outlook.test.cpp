// What an outlook says of a neighbour is never more than its run takes, and often enough to stop
// it.
#include "runtime/cost/outlook.h"

#include <doctest/doctest.h>

#include <algorithm>

#include "runtime/cost/event_engine.h"
#include "tests/support/random_problem.h"

namespace placeto {
namespace {

// In the order in which they start.
std::vector<uint32_t> started(const EventEngine& engine, uint32_t nodes) {
  std::vector<uint32_t> order(nodes);
  for (uint32_t v = 0; v < nodes; ++v) order[engine.dispatch_index(v)] = v;
  return order;
}

std::vector<uint32_t> indices(const EventEngine& engine, uint32_t nodes) {
  std::vector<uint32_t> index(nodes);
  for (uint32_t v = 0; v < nodes; ++v) index[v] = engine.dispatch_index(v);
  return index;
}

}  // namespace

TEST_CASE("no bound of an outlook is above the makespan, wherever a neighbour's run goes on from") {
  constexpr uint32_t kStride = 4;
  Random random(31);
  int reached = 0;
  for (uint32_t i = 0; i < 400; ++i) {
    const test::Instance instance =
        test::random_instance({.most_nodes = 40, .whole_numbers = i % 2 == 0}, i % 8, random);
    if (!instance.problem) continue;
    const Problem& problem = *instance.problem;
    const uint32_t nodes = problem.node_count();
    EventEngine engine(problem);
    const Assignment base = test::random_assignment(problem, random);
    REQUIRE(engine.run(base));
    const std::vector<uint32_t> base_index = indices(engine, nodes);

    const uint32_t moved = random.below(nodes);
    Assignment trial = base;
    trial[moved] = test::random_assignment(problem, random)[moved];
    uint32_t first = base_index[moved];
    for (const InEdge& in : problem.graph().in_edges(moved)) {
      first = std::min(first, base_index[in.source]);
    }
    const uint32_t block =
        problem.graph().in_edges(moved).empty() ? 0 : random.below(first / kStride + 1);
    Outlook outlook(problem, kStride, nullptr);
    outlook.rebase(base, base_index);
    outlook.begin(block, std::vector<Change>{{moved, trial[moved]}});

    REQUIRE(engine.run(trial));
    const double makespan = engine.makespan_us();
    for (uint32_t d = 0; d < problem.device_count(); ++d) {
      CHECK(outlook.least_us(d, 0) <= makespan);
    }
    const double gap = problem.topology().spec().op_gap_us;
    for (const uint32_t v : started(engine, nodes)) {
      if (base_index[v] < block * kStride) continue;
      const double start = engine.start_us()[v], finish = engine.finish_us()[v];
      const double free = problem.run_us(v, trial[v]) == 0 ? finish : finish + gap;
      const double least = outlook.node_starts(v, trial[v], start, finish, free);
      CHECK(least <= makespan);
      reached += least > 0.999 * makespan;
    }
  }
  CHECK(reached > 2'000);
}

//   a -> b -> c      10 us each, all on device 0; a transfer takes 1 us
TEST_CASE("an outlook sees what is left for a device and what comes after a node") {
  GraphSpec graph;
  for (const char* name : {"a", "b", "c"}) {
    NodeSpec node;
    node.name = name;
    node.cost_us = {10};
    node.outputs = {10};
    graph.nodes.push_back(node);
  }
  graph.edges = {{0, 0, 1}, {1, 0, 2}};
  TopologySpec topology = test::equal_devices(2);
  topology.op_gap_us = 2;
  const test::Instance instance = test::build_instance(graph, topology);
  REQUIRE(instance.problem);
  const Assignment base{0, 0, 0};
  const std::vector<uint32_t> order{0, 1, 2};
  Outlook outlook(*instance.problem, 1, nullptr);
  outlook.rebase(base, order);

  outlook.begin(0, {});
  CHECK(outlook.least_us(0, 0) == doctest::Approx(34));
  CHECK(outlook.node_starts(0, 0, 100, 110, 112) == doctest::Approx(134));

  // b moves: a and c are left for device 0, and only what is behind b has a known path.
  outlook.begin(0, std::vector<Change>{{1, 1}});
  CHECK(outlook.least_us(0, 0) == doctest::Approx(22));
  CHECK(outlook.least_us(1, 0) == doctest::Approx(10));
  CHECK(outlook.node_starts(0, 0, 0, 10, 12) == doctest::Approx(22));
  CHECK(outlook.node_starts(2, 0, 22, 32, 34) == doctest::Approx(32));
}

}  // namespace placeto
