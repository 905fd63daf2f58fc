#include "runtime/heuristics/pipeline.h"

#include <doctest/doctest.h>

#include <cmath>
#include <set>

#include "runtime/placer/placer.h"
#include "tests/support/each_pipeline.h"
#include "tests/support/random_problem.h"
#include "tests/unit/workloads_support.h"
#include "tools/io/read.h"

namespace placeto {
namespace {

Rules for_throughput() {
  Rules rules;
  rules.objective = Objective::kThroughput;
  return rules;
}

bool has_circle(const Problem& problem, const Assignment& assignment) {
  std::vector<std::vector<bool>> reaches(problem.device_count(),
                                         std::vector<bool>(problem.device_count(), false));
  for (uint32_t v = 0; v < problem.node_count(); ++v) {
    for (const OutEdge& out : problem.graph().out_edges(v)) {
      if (assignment[v] != assignment[out.target])
        reaches[assignment[v]][assignment[out.target]] = true;
    }
  }
  for (uint32_t k = 0; k < problem.device_count(); ++k) {
    for (uint32_t a = 0; a < problem.device_count(); ++a) {
      for (uint32_t b = 0; b < problem.device_count(); ++b) {
        if (reaches[a][k] && reaches[k][b]) reaches[a][b] = true;
      }
    }
  }
  for (uint32_t d = 0; d < problem.device_count(); ++d) {
    if (reaches[d][d]) return true;
  }
  return false;
}

}  // namespace

TEST_CASE("no division of an order into stages beats the pipeline that is found for it") {
  Random random(101);
  int several_stages = 0, limited = 0, none = 0;
  for (int i = 0; i < 300; ++i) {
    const test::RandomShape shape{
        .most_nodes = 8, .whole_numbers = i % 2 == 0, .restrictions = i % 3 == 0, .memory = false};
    GraphSpec graph = test::random_graph(shape, random);
    TopologySpec topology = test::random_topology(shape, (i % 4 == 3) ? 16 : 0, random);
    topology.links.clear();
    if (i % 5 == 4) {  // without outputs, what is held at one time is what lies there
      for (NodeSpec& node : graph.nodes) {
        for (uint64_t& bytes : node.outputs) bytes = 0;
        node.resident_bytes = random.below(50);
      }
      for (DeviceSpec& device : topology.devices) device.memory_bytes = 30 + random.below(150);
    }
    const test::Instance instance = test::build_instance(graph, topology, for_throughput());
    if (!instance.problem) continue;
    CAPTURE(i);
    const Problem& problem = *instance.problem;
    Evaluator evaluator(problem);
    for (const std::vector<uint32_t>& order : pipeline_orders(problem)) {
      REQUIRE(order.size() == problem.group_count());
      const Assignment found = best_pipeline(problem, order, MemoryPlan(problem));
      // Where groups wait for each other in a circle there are no stages.
      bool in_order = true;
      std::vector<size_t> at(order.size());
      for (size_t p = 0; p < order.size(); ++p) at[order[p]] = p;
      for (uint32_t v = 0; v < problem.node_count(); ++v) {
        for (const OutEdge& out : problem.graph().out_edges(v)) {
          in_order &= at[problem.group_of(v)] <= at[problem.group_of(out.target)];
        }
      }
      if (!in_order) continue;
      Score least = Score::worst();
      test::each_pipeline(problem, order, [&](const Assignment& assignment) {
        least = std::min(least, evaluator.evaluate(assignment));
      });
      limited += problem.memory_limited();
      if (!least.feasible()) {
        CHECK(found.empty());
        ++none;
        continue;
      }
      REQUIRE(!found.empty());
      CHECK(obeys_rules(problem, found));
      CHECK(!has_circle(problem, found));
      const Score score = evaluator.evaluate(found);
      CHECK(score.feasible());
      CHECK(score.objective_us == doctest::Approx(least.objective_us).epsilon(1e-9));
      several_stages +=
          std::count(found.begin(), found.end(), found[0]) != static_cast<ptrdiff_t>(found.size());
    }
  }
  CHECK(several_stages > 100);
  CHECK(limited > 20);
  CHECK(none > 5);
}

TEST_CASE("what is placed for throughput is a pipeline, and a copy on every device is named") {
  for (const char* name : {"resnet50", "inception_v3", "gpt2"}) {
    CAPTURE(name);
    const TopologySpec topology =
        read_topology_spec(PLACETO_SOURCE_DIR "/models/topologies/4xk80.json").value();
    const test::Instance instance =
        test::build_instance(generated(name, {}), topology, for_throughput());
    REQUIRE(instance.problem);
    MethodOptions options;
    options.budget.evaluations = 100;
    const Result<PlaceResult> placed = place_auto(*instance.problem, options);
    REQUIRE(placed.ok());
    double single_us = 0, pipeline_us = 0;
    for (const Candidate& candidate : placed->candidates) {
      if (candidate.method == "pipeline") pipeline_us = candidate.score.objective_us;
      if (candidate.method == "single gpu:0") single_us = candidate.score.objective_us;
    }
    REQUIRE(pipeline_us > 0);
    CHECK(placed->timeline.bottleneck_us <= pipeline_us);
    CHECK(placed->timeline.bottleneck_us < 0.5 * single_us);
    CHECK(placed->replicas_us == doctest::Approx(single_us / 4));
    // The first and the last layer of gpt2 share their weights, and so a device.
    const bool tied = instance.problem->group_count() < instance.problem->node_count();
    CHECK(has_circle(*instance.problem, placed->best.assignment) == tied);
  }
}

// A chain of nodes of these run times, each of which hands 20 bytes to the next: 2 us.
GraphSpec chain(const std::vector<std::vector<double>>& cost_us) {
  GraphSpec graph;
  for (const std::vector<double>& each : cost_us) {
    const auto v = static_cast<uint32_t>(graph.nodes.size());
    graph.nodes.emplace_back();
    graph.nodes.back().name = "n" + std::to_string(v);
    graph.nodes.back().cost_us = each;
    graph.nodes.back().outputs = {20};
    if (v > 0) graph.edges.push_back({v - 1, 0, v});
  }
  return graph;
}

// a and b, c and d: b and c take long, each on the other's device, a and d on that of c. Runs that
// do not overlap have b beside c.
TEST_CASE("that one run at a time would serve more than any pipeline is named") {
  GraphSpec graph = chain({{1, 400}, {400, 40}, {40, 400}, {1, 400}});
  graph.kinds = {"a", "b"};
  graph.edges = {{0, 0, 1}, {0, 0, 2}, {1, 0, 3}, {2, 0, 3}};
  TopologySpec topology = test::equal_devices(2);
  topology.devices[0].kind = "a";
  topology.devices[1].kind = "b";
  const test::Instance instance = test::build_instance(graph, topology, for_throughput());
  REQUIRE(instance.problem);
  PlacingProgress progress;
  const Result<PlaceResult> placed = place_auto(*instance.problem, {.progress = &progress});
  REQUIRE(placed.ok());
  CHECK(placed->proved);
  CHECK(placed->timeline.bottleneck_us == 86);
  CHECK(placed->sequential_us == 46);
  CHECK(progress.best_us == 86);  // to who watches
}

// 31 nodes of 10 bytes that hand on 30; the first also makes 100 bytes that nobody reads. Whoever
// has it has room for two more, the others for ten: most of what they make is gone by then.
TEST_CASE("what a stage holds is what it holds at a time") {
  GraphSpec graph = chain(std::vector<std::vector<double>>(31, {10}));
  for (NodeSpec& node : graph.nodes) {
    node.resident_bytes = 10;
    node.outputs = {30};
  }
  graph.nodes[0].outputs.push_back(100);
  TopologySpec topology = test::equal_devices(5);
  for (DeviceSpec& device : topology.devices) device.memory_bytes = 165;
  const test::Instance instance = test::build_instance(graph, topology, for_throughput());
  REQUIRE(instance.problem);
  Evaluator evaluator(*instance.problem);
  const Candidate found = place_pipeline(*instance.problem, evaluator);
  REQUIRE(!found.assignment.empty());
  CHECK(found.score.feasible());
  CHECK(found.score.objective_us == 70);
}

// Memory does not decide by a share of the outputs here, but by what is held at a time.
TEST_CASE("no split of a chain within memory beats the pipeline that is found") {
  Random random(113);
  int limited = 0;
  for (int i = 0; i < 200; ++i) {
    CAPTURE(i);
    GraphSpec graph = chain({{0}, {0}, {0}, {0}, {0}, {0}, {0}, {0}});
    for (NodeSpec& node : graph.nodes) {
      node.cost_us = {1.0 + random.below(20)};
      node.outputs = {1 + random.below(60)};
      node.resident_bytes = 1 + random.below(60);
      node.workspace_bytes = random.below(2) * 40;
    }
    TopologySpec topology = test::equal_devices(3);
    for (DeviceSpec& device : topology.devices) {
      device.slowdown = 1 + random.below(4);
      device.memory_bytes = 150 + random.below(100);
    }
    const test::Instance instance = test::build_instance(graph, topology, for_throughput());
    if (!instance.problem) continue;
    Evaluator evaluator(*instance.problem);
    Score least = Score::worst();
    test::each_pipeline(*instance.problem, pipeline_orders(*instance.problem)[0],
                        [&](const Assignment& assignment) {
                          least = std::min(least, evaluator.evaluate(assignment));
                        });
    if (!least.feasible()) continue;
    ++limited;
    const Candidate found = place_pipeline(*instance.problem, evaluator);
    REQUIRE(!found.assignment.empty());
    CHECK(found.score.feasible());
    CHECK(found.score.objective_us == doctest::Approx(least.objective_us).epsilon(1e-9));
  }
  CHECK(limited > 50);
}

// Layers that share a device with their gradients, for which they keep what they made.
TEST_CASE("what waits for gradients counts in a pipeline") {
  WorkloadOptions options;
  options.size = "xl";
  options.training = true;
  TopologySpec topology = test::equal_devices(6);
  topology.default_link.bandwidth_bytes_per_us = 1250;
  for (uint32_t d = 0; d < 6; ++d) {  // two GPUs of either size and two processors
    const uint64_t gigabytes[] = {6, 4, 32};
    topology.devices[d].memory_bytes = gigabytes[d / 2] << 30;
    topology.devices[d].peak_flops = d / 2 == 0 ? 121e12 : d / 2 == 1 ? 65e12 : 3e12;
    topology.devices[d].memory_bandwidth = d / 2 < 2 ? 300e9 : 200e9;
    topology.devices[d].kind = d / 2 < 2 ? "gpu" : "cpu";
  }
  const test::Instance instance =
      test::build_instance(generated("gpt2", options), topology, for_throughput());
  REQUIRE(instance.problem);
  Evaluator evaluator(*instance.problem);
  const Candidate found = place_pipeline(*instance.problem, evaluator);
  REQUIRE(!found.assignment.empty());
  CHECK(found.score.feasible());
}

TEST_CASE("what is found for latency, too, is as good as a pipeline where no device holds all") {
  WorkloadOptions options;
  options.size = "xl";
  TopologySpec topology = test::equal_devices(16);
  topology.default_link.bandwidth_bytes_per_us = 1250;
  for (DeviceSpec& device : topology.devices) {
    device.peak_flops = 65e12;
    device.memory_bandwidth = 320e9;
    device.memory_bytes = 500'000'000;
  }
  const test::Instance instance = test::build_instance(generated("gpt2", options), topology);
  REQUIRE(instance.problem);
  Evaluator evaluator(*instance.problem);
  const Candidate pipeline = place_pipeline(*instance.problem, evaluator);
  REQUIRE(pipeline.score.feasible());
  const Result<PlaceResult> placed = place_auto(*instance.problem, {});
  REQUIRE(placed.ok());
  CHECK(placed->timeline.makespan_us <= pipeline.score.objective_us);
}

TEST_CASE("runs overlap in a pipeline that the graph makes come back") {
  GraphSpec tied = chain({{10}, {10}, {10}, {10}});
  tied.nodes[0].colocate = tied.nodes[3].colocate = "weights";
  GraphSpec ends = chain({{10, -1}, {10, 10}, {10, 10}, {10, -1}});
  ends.kinds = {"a", "b"};
  TopologySpec topology = test::equal_devices(2);
  topology.devices[0].kind = "a";
  topology.devices[1].kind = "b";
  for (const GraphSpec& graph : {tied, ends}) {
    const test::Instance instance = test::build_instance(graph, topology, for_throughput());
    REQUIRE(instance.problem);
    Evaluator evaluator(*instance.problem);
    CHECK(evaluator.evaluate(Assignment{0, 1, 1, 0}).objective_us == 20);
    CHECK(evaluator.evaluate(Assignment{0, 0, 1, 0}).objective_us == 30);
    const Result<PlaceResult> placed = place_auto(*instance.problem, {});
    REQUIRE(placed.ok());
    CHECK(placed->timeline.bottleneck_us == 20);
  }
  // It may be that a device cannot run what shares the node's.
  GraphSpec tied_ends = chain({{10, 10}, {10, 10}, {10, 10}, {10, 10}});
  tied_ends.kinds = ends.kinds;
  for (const char* const set : {"first", "last"}) {
    NodeSpec only = tied_ends.nodes[0];
    only.cost_us = {1, -1};
    only.colocate = set;
    tied_ends.nodes[set == std::string_view("first") ? 0 : 3].colocate = set;
    tied_ends.nodes.push_back(only);
  }
  const test::Instance by_set = test::build_instance(tied_ends, topology, for_throughput());
  REQUIRE(by_set.problem);
  CHECK(Evaluator(*by_set.problem).evaluate(Assignment{0, 1, 1, 0, 0, 0}).objective_us == 22);
  // Coming back to where nothing makes it still counts.
  const test::Instance zigzag = test::build_instance(chain({{10}, {10}, {10}, {10}}),
                                                     test::equal_devices(2), for_throughput());
  REQUIRE(zigzag.problem);
  CHECK(Evaluator(*zigzag.problem).evaluate(Assignment{0, 1, 1, 0}).objective_us == 44);
}

TEST_CASE("what a pipeline sends back takes time") {
  GraphSpec graph = chain({{10}, {10}, {10}, {10}});
  graph.nodes[0].colocate = graph.nodes[2].colocate = "weights";
  graph.nodes[1].outputs = {10'000};
  const test::Instance instance =
      test::build_instance(graph, test::equal_devices(2), for_throughput());
  REQUIRE(instance.problem);
  Evaluator evaluator(*instance.problem);
  CHECK(place_pipeline(*instance.problem, evaluator).score.objective_us == 30);
}

// A stage that is fed by a later one counts as one with it, unless the graph makes the run come
// back there: that is not looked at.
TEST_CASE("where layers share weights, too, hardly any division of an order beats the pipeline") {
  Random random(102);
  int divided = 0, beaten = 0;
  for (int i = 0; i < 2000; ++i) {
    const test::RandomShape shape{.most_nodes = 9, .whole_numbers = i % 2 == 0, .memory = false};
    GraphSpec graph = test::random_graph(shape, random);
    for (NodeSpec& node : graph.nodes) {
      for (uint64_t& bytes : node.outputs) bytes *= 4;
    }
    const auto nodes = static_cast<uint32_t>(graph.nodes.size());
    for (const char* const weights : {"first", "second"}) {
      graph.nodes[random.below(nodes)].colocate = weights;
      graph.nodes[random.below(nodes)].colocate = weights;
    }
    TopologySpec topology = test::random_topology(shape, 0, random);
    topology.links.clear();
    const test::Instance instance = test::build_instance(graph, topology, for_throughput());
    if (!instance.problem) continue;
    Evaluator evaluator(*instance.problem);
    for (const std::vector<uint32_t>& order : pipeline_orders(*instance.problem)) {
      Score least = Score::worst();
      bool alone = false;
      test::each_pipeline(*instance.problem, order, [&](const Assignment& assignment) {
        const Score score = evaluator.evaluate(assignment);
        if (!(score < least)) return;
        least = score;
        alone = std::set<uint32_t>(assignment.begin(), assignment.end()).size() == 1;
      });
      if (alone) continue;
      const Assignment found =
          best_pipeline(*instance.problem, order, MemoryPlan(*instance.problem));
      ++divided;
      beaten += evaluator.evaluate(found).objective_us > least.objective_us * (1 + 1e-9);
    }
  }
  CHECK(divided > 100);
  CHECK(beaten * 200 <= divided);
}

TEST_CASE("devices that feed each other in a circle count as one") {
  const test::Instance instance =
      test::build_instance(chain({{10}, {10}, {10}}), test::equal_devices(2), for_throughput());
  REQUIRE(instance.problem);
  Evaluator evaluator(*instance.problem);
  CHECK(evaluator.evaluate(Assignment{0, 0, 0}).objective_us == 30);
  CHECK(evaluator.evaluate(Assignment{0, 0, 1}).objective_us == 20);
  CHECK(evaluator.evaluate(Assignment{0, 1, 0}).objective_us == 34);
}

// A grid, whose nodes read what is above them and on their left.
GraphSpec grid(uint32_t side, Random& random) {
  GraphSpec graph;
  for (uint32_t v = 0; v < side * side; ++v) {
    graph.nodes.emplace_back();
    graph.nodes[v].name = std::to_string(v);
    graph.nodes[v].cost_us = {10 + 90 * random.uniform()};
    graph.nodes[v].outputs = {1 + random.below(200)};
    if (v % side > 0) graph.edges.push_back({v - 1, 0, v});
    if (v >= side) graph.edges.push_back({v - side, 0, v});
  }
  return graph;
}

// What is between them is slow.
TopologySpec two_hosts(uint32_t devices_each) {
  TopologySpec topology = test::equal_devices(2 * devices_each);
  topology.transfer = Transfer::kUnicast;
  for (uint32_t a = 0; a < 2 * devices_each; ++a) {
    for (uint32_t b = 0; b < 2 * devices_each; ++b) {
      if (a / devices_each == b / devices_each) continue;
      LinkParameters slow = topology.default_link;
      slow.bandwidth_bytes_per_us /= 20;
      topology.links.push_back({topology.devices[a].name, topology.devices[b].name, slow, ""});
    }
  }
  return topology;
}

// Consecutive groups of one order are what the best pipeline seldom is.
TEST_CASE(
    "borders between stages shift, by sets that make no circle, until the busiest is little") {
  Random random(91);
  double sum = 0;
  constexpr int kGraphs = 20;
  for (int i = 0; i < kGraphs; ++i) {
    const test::Instance instance =
        test::build_instance(grid(9, random), two_hosts(4), for_throughput());
    REQUIRE(instance.problem);
    const auto placed = place_auto(*instance.problem, {});
    REQUIRE(placed.ok());
    Evaluator evaluator(*instance.problem);
    const Candidate pipeline = place_pipeline(*instance.problem, evaluator);
    sum += std::log(placed->best.score.objective_us / pipeline.score.objective_us);
  }
  CHECK(std::exp(sum / kGraphs) < 0.51);
}

}  // namespace placeto
