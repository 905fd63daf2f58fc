// Incremental simulation equals complete simulation, bit for bit.
#include "runtime/cost/incremental.h"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <tuple>

#include "runtime/cost/move_evaluator.h"
#include "tests/support/random_problem.h"

namespace placeto {
namespace {

void move(const Problem& problem, uint32_t group, uint32_t device, std::vector<Change>& changes) {
  if (!problem.allowed(group, device)) return;
  for (uint32_t v : problem.members(group)) changes.push_back({v, device});
}

// Two groups exchanged, or one to four to other devices; no node twice.
std::vector<Change> random_changes(const Problem& problem, std::span<const uint32_t> base,
                                   Random& random) {
  std::vector<Change> changes;
  const uint32_t groups = problem.group_count(), first = random.below(groups);
  if (const uint32_t other = random.below(groups); random.below(3) == 0 && other != first) {
    move(problem, first, base[problem.members(other)[0]], changes);
    move(problem, other, base[problem.members(first)[0]], changes);
    return changes;
  }
  std::vector<bool> taken(groups, false);
  for (uint32_t i = 1 + random.below(4); i > 0; --i) {
    const uint32_t g = random.below(groups);
    if (taken[g]) continue;
    taken[g] = true;
    move(problem, g, random.below(problem.device_count()), changes);
  }
  return changes;
}

Assignment with_changes(std::span<const uint32_t> base, const std::vector<Change>& changes) {
  Assignment assignment(base.begin(), base.end());
  for (const Change& change : changes) assignment[change.node] = change.device;
  return assignment;
}

// A walk of evaluations, some made lasting, some cut off.
void walk(const Problem& problem, int steps, Random& random) {
  Simulator full(problem);
  IncrementalSimulator incremental(problem);
  Assignment base = test::random_assignment(problem, random);
  REQUIRE(incremental.rebase(base) == full.makespan_us(base));
  for (int step = 0; step < steps; ++step) {
    const std::vector<Change> changes = random_changes(problem, base, random);
    const Assignment trial = with_changes(base, changes);
    const double exact = full.makespan_us(trial);
    CHECK(incremental.evaluate(changes) == exact);
    const double cutoff = exact * (0.5 + random.uniform());
    const double cut = incremental.evaluate(changes, cutoff);
    CHECK((cut == exact || (std::isinf(cut) && exact >= cutoff * (1 - 1e-9))));
    if (random.below(3) > 0) continue;
    incremental.apply(changes);
    base = trial;
    CHECK(incremental.makespan_us() == exact);
    CHECK(std::equal(base.begin(), base.end(), incremental.assignment().begin()));
    CHECK(
        std::equal(full.start_us().begin(), full.start_us().end(), incremental.start_us().begin()));
    CHECK(std::equal(full.finish_us().begin(), full.finish_us().end(),
                     incremental.finish_us().begin()));
    if (random.below(10) == 0) {
      base = test::random_assignment(problem, random);
      CHECK(incremental.rebase(base) == full.makespan_us(base));
    }
  }
}

void walk_many(const test::RandomShape& shape, uint64_t seed, int graphs, int steps) {
  Random random(seed);
  for (uint32_t rules = 0; rules < 8; ++rules) {  // every rule set but serial execution
    for (int i = 0; i < graphs; ++i) {
      const test::Instance instance = test::random_instance(shape, rules, random);
      if (!instance.problem) continue;
      CAPTURE(rules);
      CAPTURE(i);
      walk(*instance.problem, steps, random);
    }
  }
}

}  // namespace

TEST_CASE("incremental makespans equal complete ones on small graphs full of ties") {
  walk_many({.most_nodes = 14}, 21, 60, 40);
}

TEST_CASE("incremental makespans equal complete ones across many checkpoints") {
  walk_many({.most_nodes = 400}, 22, 5, 60);
  walk_many({.most_nodes = 400, .most_devices = 8, .whole_numbers = false}, 23, 5, 60);
}

TEST_CASE("incremental makespans equal complete ones when whole colocated groups move") {
  walk_many({.most_nodes = 80, .restrictions = true}, 24, 10, 40);
}

// Two equal nodes change places while what one of them sends waits for the channel that both share:
// all is as before, but the links are not alike.
TEST_CASE("a transfer that waits for a shared channel is not taken for another sender's") {
  constexpr uint32_t kNodes = 20, kLong = 0, kSender = 2, kOther = 3, kReaders = 18;
  GraphSpec graph;
  graph.nodes.resize(kNodes);
  for (uint32_t v = 0; v < kNodes; ++v) {
    graph.nodes[v].name = "n" + std::to_string(v);
    graph.nodes[v].cost_us = {10};
  }
  graph.nodes[kLong].outputs = {1'000};
  graph.nodes[kSender].outputs = {1'000};
  graph.edges = {{kLong, 0, kReaders}, {kSender, 0, kReaders + 1}};
  TopologySpec topology;
  topology.name = "t";
  topology.transfer = Transfer::kUnicast;
  topology.devices.resize(3);
  for (uint32_t d = 0; d < 3; ++d) {
    topology.devices[d].name = "d" + std::to_string(d);
    topology.devices[d].kind = "gpu";
  }
  topology.default_link.bandwidth_bytes_per_us = 1;
  for (const auto& [from, to, bandwidth] :
       {std::tuple{"d0", "d2", 1.0}, std::tuple{"d1", "d2", 4.0}}) {
    LinkSpec link{from, to, {}, "bus"};
    link.parameters.bandwidth_bytes_per_us = bandwidth;
    topology.links.push_back(link);
  }
  const test::Instance instance = test::build_instance(graph, topology);
  REQUIRE(instance.problem);
  Assignment base(kNodes);
  for (uint32_t v = 0; v < kNodes; ++v) base[v] = v < kReaders ? v % 2 : 2;
  const std::vector<Change> exchange{{kSender, base[kOther]}, {kOther, base[kSender]}};
  Simulator full(*instance.problem);
  IncrementalSimulator incremental(*instance.problem);
  CHECK(incremental.rebase(base) == full.makespan_us(base));
  CHECK(incremental.evaluate(exchange) == full.makespan_us(with_changes(base, exchange)));
}

TEST_CASE("a move evaluator gives the evaluator's scores, memory overflow included") {
  Random random(25);
  int overflowing = 0;
  for (uint32_t rules = 0; rules < test::kRuleSets; ++rules) {
    for (int i = 0; i < 20; ++i) {
      GraphSpec graph = test::random_graph({.most_nodes = 20}, random);
      TopologySpec topology = test::random_topology({}, rules, random);
      for (DeviceSpec& device : topology.devices) device.memory_bytes = 1 + random.below(200);
      Rules caller;
      if (random.below(2) == 0) caller.objective = Objective::kThroughput;
      const test::Instance instance =
          test::build_instance(std::move(graph), std::move(topology), caller);
      REQUIRE(instance.problem);
      const Problem& problem = *instance.problem;
      Evaluator full(problem);
      MoveEvaluator moves(problem);
      Assignment base = test::random_assignment(problem, random);
      CHECK(moves.rebase(base) == full.evaluate(base));
      for (int step = 0; step < 20; ++step) {
        const std::vector<Change> changes = random_changes(problem, base, random);
        const Assignment trial = with_changes(base, changes);
        const Score exact = full.evaluate(trial);
        overflowing += exact.feasible() ? 0 : 1;
        CHECK(moves.evaluate(changes) == exact);
        if (random.below(2) == 0) continue;
        moves.accept();
        base = trial;
        CHECK(moves.score() == exact);
        CHECK(std::equal(base.begin(), base.end(), moves.assignment().begin()));
        full.timeline(base);
        CHECK(std::equal(full.start_us().begin(), full.start_us().end(), moves.start_us().begin()));
      }
    }
  }
  CHECK(overflowing > 100);
}

TEST_CASE("a neighbour below the cutoff is scored in full, and any other is not accepted") {
  Random random(77);
  int accepted = 0, overflowing = 0;
  for (uint32_t i = 0; i < 300; ++i) {
    const test::Instance instance =
        test::random_instance({.most_nodes = 30, .whole_numbers = i % 2 == 0}, i % test::kRuleSets,
                              random, {100, i % 3 == 0 ? 0u : 2'000u});
    if (!instance.problem) continue;
    const Problem& problem = *instance.problem;
    Evaluator full(problem);
    MoveEvaluator moves(problem);
    Assignment base = test::random_assignment(problem, random);
    moves.rebase(base);
    for (int step = 0; step < 20; ++step) {
      const std::vector<Change> changes = random_changes(problem, base, random);
      const Assignment trial = with_changes(base, changes);
      const Score exact = full.evaluate(trial);
      const double just_above =
          std::nextafter(exact.objective_us, std::numeric_limits<double>::infinity());
      const double cutoff = random.below(3) == 0
                                ? just_above
                                : moves.score().objective_us * (0.9 + 0.3 * random.uniform());
      const Score score = moves.evaluate(changes, cutoff);
      if (moves.score().feasible() && !(exact.objective_us < cutoff)) {
        CHECK(score.objective_us >= cutoff * (1 - 1e-9));
        continue;
      }
      CHECK(score == exact);
      overflowing += exact.feasible() ? 0 : 1;
      if (score.overflow_bytes > moves.score().overflow_bytes) continue;
      moves.accept();
      ++accepted;
      base = trial;
      CHECK(std::equal(full.start_us().begin(), full.start_us().end(), moves.start_us().begin()));
    }
  }
  CHECK(accepted > 500);
  CHECK(overflowing > 50);
}

// The makespan of a base that overflows is no bar for one that does not: any placement that fits is
// better, so its makespan must be known.
TEST_CASE("no cutoff hides the makespan of a move that ends an overflow") {
  GraphSpec graph;
  graph.nodes.resize(2);
  for (uint32_t v = 0; v < 2; ++v) {
    graph.nodes[v].name = "n" + std::to_string(v);
    graph.nodes[v].cost_us = {10};
    graph.nodes[v].resident_bytes = 8;
  }
  graph.nodes[0].outputs = {1};
  graph.edges = {{0, 0, 1}};
  TopologySpec topology;
  topology.name = "t";
  topology.default_link.bandwidth_bytes_per_us = 1;
  topology.devices.resize(2);
  for (uint32_t d = 0; d < 2; ++d) {
    topology.devices[d].name = "d" + std::to_string(d);
    topology.devices[d].kind = "gpu";
    topology.devices[d].memory_bytes = 10;
  }
  const test::Instance instance = test::build_instance(graph, topology);
  REQUIRE(instance.problem);
  MoveEvaluator moves(*instance.problem);
  const Score base = moves.rebase(Assignment{0, 0});
  CHECK(base == Score{7, 20});
  const std::vector<Change> split{{1, 1}};
  CHECK(moves.evaluate(split, base.objective_us) == Score{0, 21});
}

}  // namespace placeto
