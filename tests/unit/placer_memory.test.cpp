// What the placer promises where memory is tight: what fits is found, and infeasible means proved
// so.
#include <doctest/doctest.h>

#include <algorithm>
#include <numeric>

#include "runtime/cost/simulator.h"
#include "runtime/placer/steps.h"
#include "runtime/search/polish.h"
#include "tests/support/all_placements.h"
#include "tests/support/random_problem.h"
#include "tests/unit/placed_with.h"

namespace placeto {
namespace {

// Limits that a random placement just keeps.
void limit_to_random_placement(const GraphSpec& graph, Random& random, TopologySpec& topology) {
  const test::Instance roomy = test::build_instance(graph, topology);
  REQUIRE(roomy.problem);
  Simulator simulator(*roomy.problem);
  const Timeline& timeline = simulator.run(test::random_assignment(*roomy.problem, random));
  for (uint32_t d = 0; d < topology.devices.size(); ++d) {
    topology.devices[d].memory_bytes = std::max<uint64_t>(1, timeline.peak_memory_bytes[d]);
  }
}

}  // namespace

// A packing says how much is missing at least, from weights alone.
TEST_CASE("what is said to come closest to fitting does, where few groups are to be placed") {
  Random random(99);
  int missing = 0;
  for (int i = 0; i < 400; ++i) {
    const test::Instance instance = test::random_instance(
        {.most_nodes = 6, .most_devices = 3}, static_cast<uint32_t>(i % 8), random, {1, 25});
    if (!instance.problem) continue;
    const PlaceOutcome placed = place_auto(*instance.problem, {});
    if (placed.ok()) continue;
    CAPTURE(i);
    const std::vector<uint64_t>& shortfall = placed.shortfall_bytes;
    CHECK(std::accumulate(shortfall.begin(), shortfall.end(), uint64_t{0}) ==
          test::least_score(*instance.problem).overflow_bytes);
    ++missing;
  }
  CHECK(missing > 100);
}

TEST_CASE(
    "what is said to be proved is proved, infeasible means that nothing fits, and little that fits "
    "is not found") {
  Random random(96);
  int proved = 0, infeasible = 0, missed = 0;
  for (uint32_t rules = 0; rules < test::kRuleSets; ++rules) {
    for (int i = 0; i < 16; ++i) {
      const test::RandomShape shape{.most_nodes = 7,
                                    .most_devices = 2,
                                    .whole_numbers = i % 2 == 0,
                                    .restrictions = i % 4 < 2};
      GraphSpec graph = test::random_graph(shape, random);
      TopologySpec topology = test::random_topology(shape, rules, random);
      if (i % 4 != 0) {
        for (DeviceSpec& device : topology.devices) device.memory_bytes = 20 + random.below(120);
      }
      Rules caller;
      if (i % 8 == 7) caller.objective = Objective::kThroughput;
      const test::Instance instance =
          test::build_instance(std::move(graph), std::move(topology), caller);
      if (!instance.problem) continue;
      CAPTURE(rules);
      CAPTURE(i);
      const Score least = test::least_score(*instance.problem);
      const Result<PlaceResult> placed = placed_with(*instance.problem, i % 3 == 0 ? 100 : 0);
      if (!placed.ok()) {
        if (placed.status().code() == StatusCode::kInfeasible) CHECK(!least.feasible());
        infeasible += placed.status().code() == StatusCode::kInfeasible;
        missed += least.feasible();
        continue;
      }
      CHECK(placed->best.score.feasible());
      if (!placed->best.division.empty()) continue;  // divided anew: not one of all placements
      CHECK(placed->best.score.objective_us >= least.objective_us * (1 - 3e-9));
      if (!placed->proved) continue;
      CHECK(placed->best.score.objective_us <= least.objective_us * (1 + 3e-9));
      ++proved;
    }
  }
  CHECK(proved > 150);
  CHECK(infeasible > 30);
  CHECK(missed == 0);
}

// What runs hold beside weights, a packing does not see.
// One device has one placement and few divisions.
TEST_CASE("what does not fit in stages is proved not to, whatever the objective") {
  GraphSpec graph;
  graph.nodes.resize(3);
  graph.nodes[0].outputs = {104, 88, 88};
  graph.nodes[0].resident_bytes = 25;
  graph.nodes[1].outputs = {0, 72};
  graph.nodes[1].workspace_bytes = 50;
  graph.nodes[2].outputs = {128};
  for (NodeSpec& node : graph.nodes) node.cost_us = {5};
  graph.edges = {{1, 0, 2}, {0, 2, 2}, {0, 0, 1}};
  TopologySpec topology;
  topology.execution = Execution::kStaged;
  topology.devices = {{"d0", "cpu", 261}};
  for (const Objective objective : {Objective::kLatency, Objective::kThroughput}) {
    Rules rules;
    rules.objective = objective;
    const test::Instance instance = test::build_instance(graph, topology, rules);
    CHECK(place_auto(*instance.problem, {}).status().code() == StatusCode::kInfeasible);
  }
}

TEST_CASE("staged problems fit or do not fit, whatever the objective") {
  Random random(98);
  int infeasible = 0;
  for (int i = 0; i < 300; ++i) {
    const test::RandomShape shape{.most_nodes = 6, .most_devices = 2};
    const GraphSpec graph = test::random_graph(shape, random);
    TopologySpec topology = test::random_topology(shape, static_cast<uint32_t>(i % 8), random);
    topology.execution = Execution::kStaged;
    for (DeviceSpec& device : topology.devices) device.memory_bytes = 20 + random.below(80);
    const auto found = [&](Objective objective) {
      Rules rules;
      rules.objective = objective;
      const test::Instance instance = test::build_instance(graph, topology, rules);
      return instance.problem ? place_auto(*instance.problem, {}).status().code()
                              : StatusCode::kBadInput;
    };
    CAPTURE(i);
    const StatusCode latency = found(Objective::kLatency);
    CHECK(latency == found(Objective::kThroughput));
    infeasible += latency == StatusCode::kInfeasible;
  }
  CHECK(infeasible > 50);
}

TEST_CASE("what fits up to 24 groups in little memory is found by looking at all placements") {
  for (const uint64_t seed : {2, 3}) {
    Random random(seed);
    const test::RandomShape shape{.most_nodes = 24, .most_devices = 5};
    for (int i = 0; i < 60; ++i) {
      const GraphSpec graph = test::random_graph(shape, random);
      TopologySpec topology = test::random_topology(shape, 0, random);
      double share = 0;
      for (const NodeSpec& node : graph.nodes) share += static_cast<double>(node.resident_bytes);
      share /= static_cast<double>(topology.devices.size());
      for (DeviceSpec& device : topology.devices) {
        device.memory_bytes =
            static_cast<uint64_t>(share * (1 + random.uniform())) + 10 + random.below(40);
      }
      const test::Instance instance = test::build_instance(graph, topology);
      if (!instance.problem) continue;
      CAPTURE(seed);
      CAPTURE(i);
      const Result<PlaceResult> placed = placed_with(*instance.problem, 0);
      CHECK((placed.ok() || placed.status().code() == StatusCode::kInfeasible));
    }
  }
}

TEST_CASE(
    "weights that fill two devices to the byte are placed; one byte more is proved too much") {
  std::vector<uint64_t> sizes{36, 884, 21, 58, 776, 130, 8, 87};
  test::Instance instance = test::weights(sizes, {1'000, 1'000});
  REQUIRE(instance.problem);
  const Result<PlaceResult> placed = placed_with(*instance.problem, 0);
  REQUIRE(placed.ok());
  CHECK(placed->timeline.peak_memory_bytes == std::vector<uint64_t>{1'000, 1'000});
  sizes[0] += 1;
  instance = test::weights(sizes, {1'000, 1'000});
  const Result<PlaceResult> too_much = placed_with(*instance.problem, 0);
  REQUIRE(!too_much.ok());
  CHECK(too_much.status().code() == StatusCode::kInfeasible);
  CHECK(too_much.status().message().find("at least 1 B;") != std::string::npos);
}

TEST_CASE("what lacks more bytes on all devices together than 64 bits count does not fit") {
  // One output that a reader on each of four devices would hold: four times 2^62 bytes.
  GraphSpec graph;
  for (uint32_t v = 0; v < 4; ++v) {
    graph.nodes.emplace_back();
    graph.nodes.back().name = "n" + std::to_string(v);
    graph.nodes.back().cost_us = {1};
    if (v > 0) graph.edges.push_back({0, 0, v});
  }
  graph.nodes[0].outputs = {(uint64_t{1} << 62) + 1'000};
  TopologySpec topology = test::equal_devices(4);
  topology.default_link.bandwidth_bytes_per_us = 1e20;
  for (DeviceSpec& device : topology.devices) device.memory_bytes = 1'000;
  const test::Instance instance = test::build_instance(graph, topology);
  REQUIRE(instance.problem);
  Evaluator evaluator(*instance.problem);
  CHECK(!evaluator.evaluate(Assignment{0, 1, 2, 3}).feasible());
  CHECK(!placed_with(*instance.problem, 0).ok());
}

TEST_CASE("what is neither placed nor proved not to fit is said not to be found") {
  // Forty producers run before the first of their consumers, each on the device of its own: 4,000
  // bytes are held then, which no node alone tells, and there are too many nodes to look at
  // everything.
  GraphSpec graph;
  for (uint32_t v = 0; v < 81; ++v) {
    graph.nodes.emplace_back();
    graph.nodes.back().name = "n" + std::to_string(v);
    graph.nodes.back().cost_us = {1};
    if (v < 40) graph.nodes.back().outputs = {100};
    if (v != 40) graph.nodes.back().colocate = "pair" + std::to_string(v % 41);
    if (v < 40) graph.edges.push_back({v, 0, v + 41});
    if (v < 40) graph.edges.push_back({v, kControlEdge, 40});
    if (v > 40) graph.edges.push_back({40, kControlEdge, v});
  }
  TopologySpec topology = test::equal_devices(2);
  for (DeviceSpec& device : topology.devices) device.memory_bytes = 1'500;
  const test::Instance instance = test::build_instance(graph, topology);
  REQUIRE(instance.problem);
  const Result<PlaceResult> placed = placed_with(*instance.problem, 0);
  REQUIRE(!placed.ok());
  CHECK(placed.status().code() == StatusCode::kNotFound);
  CHECK(placed.status().message().find("the closest") != std::string::npos);
}

TEST_CASE(
    "what an unfinished proof finds to fit in stages is divided as it is placed, and no move "
    "betters "
    "it") {
  const std::vector<Step> steps = auto_steps();
  const Step proof = *std::ranges::find(steps, "proof", &Step::name);
  Random random(5);
  int optimal = 0, divided = 0;
  for (int i = 0; i < 3'000; ++i) {
    const test::RandomShape shape{.most_nodes = 8, .most_devices = 3};
    const GraphSpec graph = test::random_graph(shape, random);
    TopologySpec topology = test::random_topology(shape, static_cast<uint32_t>(i % 8), random);
    topology.execution = Execution::kStaged;
    limit_to_random_placement(graph, random, topology);
    const test::Instance instance = test::build_instance(graph, topology);
    REQUIRE(instance.problem);
    const Problem& problem = *instance.problem;
    const MethodOptions few{.budget = {.evaluations = 100}};
    const PlacerOptions options;
    Placing placing(problem, few, options);
    Candidate start{"start", test::random_assignment(problem, random), {}};
    start.score = placing.bench.evaluator().evaluate(start.assignment);
    placing.bench.add(start);
    if (start.score.feasible()) continue;
    REQUIRE(proof.run(proof, placing).ok());
    Candidate found = placing.bench.best();
    CAPTURE(i);
    for (uint32_t v = 0; v < found.division.stage_of.size(); ++v) {
      REQUIRE(found.division.device[found.division.stage_of[v]] == found.assignment[v]);
    }
    CHECK(Evaluator(problem).evaluate(found.assignment, found.division) == found.score);
    if (!found.one_move_optimal) continue;
    ++optimal;
    divided += !found.division.empty();
    CHECK(!make_better_move(placing.bench.move_evaluator(), found));
  }
  CHECK(optimal > 100);
  CHECK(divided > 10);
}

TEST_CASE("what fits is found though one search for it fails") {
  // Limits that a random placement just keeps: one of 100 such problems; these are some of them.
  for (const uint64_t seed : {3042, 3158, 3204, 3797, 4317, 5503, 7280, 8280}) {
    Random random(seed);
    test::RandomShape shape{.most_nodes = 40};
    shape.whole_numbers = random.below(2) != 0;
    shape.restrictions = random.below(3) == 0;
    const GraphSpec graph = test::random_graph(shape, random);
    TopologySpec topology = test::random_topology(shape, random.below(test::kRuleSets), random);
    limit_to_random_placement(graph, random, topology);
    const test::Instance tight = test::build_instance(graph, topology);
    REQUIRE(tight.problem);
    CAPTURE(seed);
    CHECK(placed_with(*tight.problem, 0).ok());
  }
}

}  // namespace placeto
