#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>

#include "runtime/groups/line_order.h"
#include "runtime/heuristics/pipeline.h"
#include "runtime/heuristics/serial_memory.h"
#include "runtime/placer/placer.h"
#include "tests/support/each_pipeline.h"
#include "tests/support/random_problem.h"
#include "tests/unit/workloads_support.h"
#include "tools/io/read.h"

namespace placeto {
namespace {

// Layers and behind them their gradients, each of which reads what its layer made.
GraphSpec training_chain(uint32_t layers) {
  GraphSpec graph;
  graph.kinds = {"gpu"};
  for (uint32_t v = 0; v < 2 * layers; ++v) {
    NodeSpec node;
    node.cost_us = {10};
    node.outputs = {1000};
    graph.nodes.push_back(node);
    if (v > 0) graph.edges.push_back({v - 1, 0, v});
    if (v > layers) graph.edges.push_back({2 * layers - 1 - v, 0, v});
  }
  return graph;
}

// What runs and what stages wait for take together, each tensor once for every stage that reads it.
double serial_us(const Problem& problem, const Assignment& assignment) {
  double us = 0;
  for (uint32_t v = 0; v < problem.node_count(); ++v) us += problem.run_us(v, assignment[v]);
  const double gap_us = problem.topology().spec().default_link.gap_us;
  for (uint32_t o = 0; o < problem.graph().output_count(); ++o) {
    const uint32_t from = assignment[problem.graph().producer(o)];
    for (uint32_t d = 0; d < problem.device_count(); ++d) {
      const auto readers = problem.graph().consumers(o);
      const auto reads = [&](uint32_t w) { return assignment[w] == d; };
      if (d != from && std::ranges::any_of(readers, reads)) {
        us += problem.transfer_us(o, from, d) + gap_us;
      }
    }
  }
  return us;
}

}  // namespace

TEST_CASE("a layer and its gradient stand near each other along the line") {
  constexpr uint32_t kLayers = 50;
  const test::Instance instance =
      test::build_instance(training_chain(kLayers), test::equal_devices(2));
  REQUIRE(instance.problem);
  const std::vector<uint32_t> line = line_order(*instance.problem);
  REQUIRE(line.size() == instance.problem->group_count());
  std::vector<int> at(line.size(), -1);
  for (size_t i = 0; i < line.size(); ++i) at[line[i]] = static_cast<int>(i);
  CHECK(std::ranges::count(at, -1) == 0);
  for (uint32_t v = 0; v < kLayers; ++v) {
    const int layer = at[instance.problem->group_of(v)];
    CHECK(std::abs(layer - at[instance.problem->group_of(2 * kLayers - 1 - v)]) <= 4);
  }
}

TEST_CASE("every group has its place on the line, whatever the graph") {
  Random random(211);
  for (int i = 0; i < 200; ++i) {
    const test::RandomShape shape{.most_nodes = 30, .restrictions = i % 2 == 0};
    const test::Instance instance = test::random_instance(shape, 0, random);
    if (!instance.problem) continue;
    std::vector<uint32_t> line = line_order(*instance.problem);
    std::ranges::sort(line);
    REQUIRE(line.size() == instance.problem->group_count());
    for (uint32_t g = 0; g < line.size(); ++g) CHECK(line[g] == g);
  }
}

TEST_CASE("no division of an order takes less time, one after the other, than its best chain") {
  Random random(212);
  int several_stages = 0;
  for (int i = 0; i < 300; ++i) {
    const test::RandomShape shape{
        .most_nodes = 8, .whole_numbers = i % 2 == 0, .restrictions = i % 3 == 0, .memory = false};
    TopologySpec topology = test::random_topology(shape, 0, random);
    topology.links.clear();
    topology.execution = Execution::kParallel;
    topology.transfer = Transfer::kUnicast;
    const test::Instance instance =
        test::build_instance(test::random_graph(shape, random), topology);
    if (!instance.problem) continue;
    CAPTURE(i);
    const Problem& problem = *instance.problem;
    const std::vector<uint32_t> order = line_order(problem);
    double least_us = kNever;
    test::each_pipeline(problem, order, [&](const Assignment& assignment) {
      least_us = std::min(least_us, serial_us(problem, assignment));
    });
    const Assignment found = best_chain(problem, order, MemoryPlan(problem));
    if (least_us == kNever) {
      CHECK(found.empty());
      continue;
    }
    REQUIRE(!found.empty());
    CHECK(obeys_rules(problem, found));
    CHECK(serial_us(problem, found) == doctest::Approx(least_us).epsilon(1e-9));
    several_stages +=
        std::count(found.begin(), found.end(), found[0]) != static_cast<ptrdiff_t>(found.size());
  }
  CHECK(several_stages > 20);
}

TEST_CASE("what some outputs take in a serial run is known exactly for sixteen nodes") {
  Random random(213);
  for (int i = 0; i < 200; ++i) {
    const test::RandomShape shape{.most_nodes = 16};
    const Graph graph = Graph::build(test::random_graph(shape, random)).value();
    const SerialMemory serial(graph);
    std::vector<uint32_t> turn(graph.node_count());
    for (uint32_t t = 0; t < turn.size(); ++t) turn[graph.topological_order()[t]] = t;
    std::vector<double> held(graph.node_count(), 0);
    SerialMemory::Bytes found = {};
    for (uint32_t o = 0; o < graph.output_count(); ++o) {
      if (random.below(2) == 0) continue;
      const auto bytes = static_cast<double>(graph.output_bytes(o));
      serial.add(o, bytes, found);
      uint32_t last = turn[graph.producer(o)];
      for (const uint32_t w : graph.consumers(o)) last = std::max(last, turn[w]);
      for (uint32_t t = turn[graph.producer(o)]; t <= last; ++t) held[t] += bytes;
    }
    CHECK(*std::ranges::max_element(found) == *std::ranges::max_element(held));
  }
}

TEST_CASE("a training step that no device of two hosts holds runs in stages of both directions") {
  WorkloadOptions options;
  options.training = true;
  TopologySpec topology =
      read_topology_spec(PLACETO_SOURCE_DIR "/models/topologies/2x4-gpu-two-hosts.json").value();
  for (DeviceSpec& device : topology.devices) device.memory_bytes = 606'000'000;  // of 3 GB
  const test::Instance instance = test::build_instance(generated("resnet50", options), topology);
  REQUIRE(instance.problem);
  Evaluator evaluator(*instance.problem);
  const Score alone = evaluator.evaluate(Assignment(instance.problem->node_count(), 0));
  CHECK(!alone.feasible());
  const Result<PlaceResult> placed = place_auto(*instance.problem, {});
  REQUIRE(placed.ok());
  CHECK(placed->best.score.feasible());
  CHECK(placed->best.score.objective_us < 2.1 * alone.objective_us);  // without: 2.45
}

}  // namespace placeto
