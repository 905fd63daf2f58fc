// The simulator against the slow evaluator of tests/support, under every set of rules.
#include <doctest/doctest.h>

#include <cmath>

#include "runtime/cost/simulator.h"
#include "tests/support/random_problem.h"
#include "tests/support/slow_evaluator.h"

namespace placeto {
namespace {

// Both sum busy times in their own order.
void check_close(double a, double b) {
  CHECK(std::fabs(a - b) <= 1e-9 * (1 + std::fabs(b)));
}

// Equal to the bit, but for staged execution: prices of cuts are summed in any order.
void check_times(const Problem& problem, std::span<const double> a, std::span<const double> b) {
  if (problem.topology().spec().execution != Execution::kStaged) {
    CHECK(std::equal(a.begin(), a.end(), b.begin(), b.end()));
    return;
  }
  REQUIRE(a.size() == b.size());
  for (size_t i = 0; i < a.size(); ++i) check_close(a[i], b[i]);
}

void compare(const Problem& problem, const Assignment& assignment, Simulator& simulator) {
  const test::SlowRun expected = test::evaluate_slowly(problem, assignment);
  const double makespan_us = simulator.makespan_us(assignment);
  check_times(problem, {&makespan_us, 1}, {&expected.makespan_us, 1});
  check_times(problem, simulator.start_us(), expected.start_us);
  const Timeline& timeline = simulator.run(assignment);
  CHECK(timeline.makespan_us == makespan_us);
  check_times(problem, {&timeline.drain_us, 1}, {&expected.drain_us, 1});
  check_times(problem, timeline.start_us, expected.start_us);
  check_times(problem, timeline.finish_us, expected.finish_us);
  CHECK(timeline.peak_memory_bytes == expected.peak_memory_bytes);
  check_close(timeline.bottleneck_us, expected.bottleneck_us);
  REQUIRE(timeline.transfers.size() == expected.transfers.size());
  for (size_t i = 0; i < timeline.transfers.size(); ++i) {
    const TransferSlice& a = timeline.transfers[i];
    const test::SlowTransfer& b = expected.transfers[i];
    CHECK(a.output == b.output);
    CHECK(a.channel == b.channel);
    const double times[] = {a.start_us, a.end_us, a.arrival_us};
    const double others[] = {b.start_us, b.end_us, b.arrival_us};
    check_times(problem, times, others);
    if (a.destination != TransferSlice::kBroadcast) {
      CHECK(b.destinations == std::set<uint32_t>{a.destination});
    }
  }
}

void compare_many(const test::RandomShape& shape, uint64_t seed, int graphs) {
  Random random(seed);
  for (uint32_t rules = 0; rules < test::kRuleSets; ++rules) {
    for (int i = 0; i < graphs; ++i) {
      const test::Instance instance = test::random_instance(shape, rules, random);
      if (!instance.problem) continue;
      CAPTURE(rules);
      CAPTURE(i);
      Simulator simulator(*instance.problem);
      for (int k = 0; k < 3; ++k) {
        compare(*instance.problem, test::random_assignment(*instance.problem, random), simulator);
      }
    }
  }
}

}  // namespace

TEST_CASE("the simulator equals the slow evaluator on graphs full of ties, under every rule set") {
  compare_many({}, 11, 120);
}

TEST_CASE("the simulator equals the slow evaluator where nothing ties") {
  compare_many({.most_nodes = 30, .most_devices = 6, .whole_numbers = false}, 12, 30);
}

TEST_CASE("the simulator equals the slow evaluator with colocation and unlike devices") {
  compare_many({.most_nodes = 20, .restrictions = true}, 13, 40);
}

TEST_CASE("upward rank follows its definition on unlike devices and links") {
  Random random(14);
  const test::RandomShape shape{.most_nodes = 20, .whole_numbers = false, .restrictions = true};
  for (int i = 0; i < 200; ++i) {
    const test::Instance instance =
        test::random_instance(shape, random.below(test::kRuleSets), random);
    if (!instance.problem) continue;
    const std::vector<double> expected = test::rank_slowly(*instance.problem);
    for (uint32_t v = 0; v < expected.size(); ++v) {
      check_close(instance.problem->upward_rank()[v], expected[v]);
    }
  }
}

TEST_CASE("a node on a device that cannot run it makes the makespan infinite") {
  GraphSpec graph;
  graph.kinds = {"gpu", "cpu"};
  graph.nodes.resize(2);
  graph.nodes[0].name = "a";
  graph.nodes[0].cost_us = {1, -1};
  graph.nodes[1].name = "b";
  graph.nodes[1].cost_us = {1, 1};
  for (uint32_t rules = 0; rules < test::kRuleSets; ++rules) {
    TopologySpec topology;
    topology.name = "t";
    topology.default_link.bandwidth_bytes_per_us = 1;
    topology.devices.resize(2);
    topology.devices[0].name = topology.devices[0].kind = "gpu";
    topology.devices[1].name = topology.devices[1].kind = "cpu";
    test::set_rules(rules, topology);
    const test::Instance instance = test::build_instance(graph, topology);
    REQUIRE(instance.problem);
    Simulator simulator(*instance.problem);
    CHECK(std::isinf(simulator.makespan_us(Assignment{1, 0})));
    CHECK(simulator.makespan_us(Assignment{0, 0}) == 2);
  }
}

TEST_CASE("simulating twice gives the same timeline to the bit, whatever ran in between") {
  Random random(15);
  for (uint32_t rules = 0; rules < test::kRuleSets; ++rules) {
    for (int i = 0; i < 20; ++i) {
      const test::Instance instance = test::random_instance({}, rules, random);
      if (!instance.problem) continue;
      Simulator simulator(*instance.problem), other(*instance.problem);
      const Assignment a = test::random_assignment(*instance.problem, random);
      const Assignment b = test::random_assignment(*instance.problem, random);
      const Timeline first = simulator.run(a);
      simulator.run(b);
      simulator.makespan_us(b);
      const Timeline& again = simulator.run(a);
      CHECK(again.start_us == first.start_us);
      CHECK(again.peak_memory_bytes == first.peak_memory_bytes);
      CHECK(again.drain_us == first.drain_us);
      CHECK(again.bottleneck_us == first.bottleneck_us);
      CHECK(other.run(a).finish_us == first.finish_us);
    }
  }
}

// Node v of the first graph is node `to[v]` of the second.
static GraphSpec relabelled(const GraphSpec& graph, const std::vector<uint32_t>& to) {
  GraphSpec result = graph;
  for (uint32_t v = 0; v < to.size(); ++v) result.nodes[to[v]] = graph.nodes[v];
  for (EdgeSpec& e : result.edges) e = {to[e.source], e.output, to[e.target]};
  return result;
}

// Whether two nodes of a device become ready at one time: what joins a queue together does so in
// the order of the indices.
static bool joins_tie(const Problem& problem, const Assignment& assignment,
                      const Timeline& timeline) {
  const Graph& graph = problem.graph();
  std::set<std::pair<uint32_t, double>> joins;
  for (uint32_t v = 0; v < graph.node_count(); ++v) {
    double ready = 0;
    for (const InEdge& in : graph.in_edges(v)) {
      double arrival = timeline.finish_us[in.source];
      for (const TransferSlice& t : timeline.transfers) {
        const bool moves = t.output == in.output && assignment[in.source] != assignment[v];
        const bool here =
            t.destination == TransferSlice::kBroadcast || t.destination == assignment[v];
        if (moves && here) arrival = t.arrival_us;
      }
      ready = std::max(ready, arrival);
    }
    if (!joins.emplace(assignment[v], ready).second) return true;
  }
  return false;
}

// Not for serial execution: it follows the indices.
TEST_CASE("relabelling the nodes changes no makespan where nothing ties") {
  Random random(16);
  const test::RandomShape shape{.most_nodes = 10, .whole_numbers = false};
  for (uint32_t rules = 0; rules < 8; ++rules) {
    CAPTURE(rules);
    int compared = 0;
    for (int i = 0; i < 400; ++i) {
      const GraphSpec graph = test::random_graph(shape, random);
      const TopologySpec topology = test::random_topology(shape, rules, random);
      const std::vector<uint32_t> to =
          test::shuffled(static_cast<uint32_t>(graph.nodes.size()), random);
      const test::Instance a = test::build_instance(graph, topology);
      const test::Instance b = test::build_instance(relabelled(graph, to), topology);
      REQUIRE((a.problem && b.problem));
      const Assignment assignment = test::random_assignment(*a.problem, random);
      Assignment moved(assignment.size());
      for (uint32_t v = 0; v < to.size(); ++v) moved[to[v]] = assignment[v];
      Simulator first(*a.problem), second(*b.problem);
      const Timeline& timeline = first.run(assignment);
      const bool fifo = topology.dispatch == Dispatch::kFifo;
      if (fifo && joins_tie(*a.problem, assignment, timeline)) continue;
      CHECK(second.makespan_us(moved) == timeline.makespan_us);
      ++compared;
    }
    CHECK(compared > 40);
  }
}

}  // namespace placeto
