// Staged execution: what stages are formed, what they cost, and when they run.
#include "runtime/cost/staged.h"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <numeric>

#include "runtime/cost/evaluator.h"
#include "runtime/cost/memory.h"
#include "runtime/timeline/critical_path.h"
#include "tests/support/random_problem.h"
#include "tests/support/slow_evaluator.h"

namespace placeto {
namespace {

using Numbers = std::vector<uint32_t>;

Division divide(const Problem& problem, const Assignment& assignment, StageRule rule) {
  StageTables tables(problem);
  StageFormer former(tables.graph(), problem.device_count());
  Division division;
  REQUIRE(former.form(assignment, rule, division));
  return division;
}

// a -> b -> c, each with one output of 20 bytes, run times 1, 2 and 4; prices 10 a stage, 1 a cut
// and 2 bytes a microsecond; links carry 10 bytes a microsecond.
test::Instance three_stages(double stage_us = 10) {
  GraphSpec graph;
  graph.name = "chain";
  for (uint32_t v = 0; v < 3; ++v) {
    graph.nodes.emplace_back();
    graph.nodes[v].name = std::string(1, static_cast<char>('a' + v));
    graph.nodes[v].cost_us = {static_cast<double>(1 << v)};
    graph.nodes[v].outputs = {20};
    if (v > 0) graph.edges.push_back({v - 1, 0, v});
  }
  TopologySpec topology = test::equal_devices(2);
  topology.execution = Execution::kStaged;
  for (DeviceSpec& device : topology.devices) {
    device.stage_us = stage_us;
    device.cut_us = 1;
    device.cut_bytes_per_us = 2;
  }
  return test::build_instance(std::move(graph), std::move(topology));
}

}  // namespace

TEST_CASE("one device is one stage: its price and the run times, and no cut") {
  const test::Instance instance = three_stages();
  Simulator simulator(*instance.problem);
  const Timeline& timeline = simulator.run(Assignment{0, 0, 0});
  CHECK(timeline.makespan_us == 10 + 1 + 2 + 4);
  CHECK(timeline.start_us == std::vector<double>{10, 11, 13});
  REQUIRE(timeline.stages.size() == 1);
  CHECK(timeline.transfers.empty());
  CHECK(timeline.device_busy_us == std::vector<double>{17, 0});
}

TEST_CASE("a cut is paid for by the stage that makes it and by the stage that reads it") {
  const test::Instance instance = three_stages();
  Simulator simulator(*instance.problem);
  const Timeline& timeline = simulator.run(Assignment{0, 0, 1});
  // Stage 0: 10 + 1 + 2, and 1 + 20 / 2 for what leaves. Transfer: 20 / 10. Stage 1: 10, 11 for
  // what enters, 4.
  REQUIRE(timeline.stages.size() == 2);
  CHECK(timeline.stages[0].end_us == 24);
  CHECK(timeline.stages[1].start_us == 26);
  CHECK(timeline.makespan_us == 26 + 10 + 11 + 4);
  CHECK(timeline.start_us == std::vector<double>{10, 11, 47});
  CHECK(timeline.finish_us == std::vector<double>{11, 13, 51});
  CHECK(timeline.bottleneck_us == 25);
  CHECK(timeline.stage_of == Numbers{0, 0, 1});
  CHECK(timeline.stage_order == Numbers{0, 1});
}

TEST_CASE("a division on one device has cuts too, but no transfers") {
  const test::Instance instance = three_stages();
  Simulator simulator(*instance.problem);
  const Division division{{0, 1, 1}, {0, 0}, {}};
  const Timeline& timeline = simulator.run(Assignment{0, 0, 0}, division);
  CHECK(timeline.makespan_us == (10 + 1 + 11) + (10 + 11 + 2 + 4));
  CHECK(timeline.transfers.empty());
}

// 0 -> 1 -> 3, 0 -> 2 -> 3, and 4 -> 5 alone; 1 is on the second device.
TEST_CASE("the fewest stages take what they can; those for overlap hand over at once") {
  GraphSpec graph;
  graph.nodes.resize(6);
  for (NodeSpec& node : graph.nodes) node.outputs = {10};
  for (uint32_t v = 0; v < 6; ++v) {
    graph.nodes[v].name = std::to_string(v);
    graph.nodes[v].cost_us = {10};
  }
  graph.edges = {{0, 0, 1}, {0, 0, 2}, {1, 0, 3}, {2, 0, 3}, {4, 0, 5}};
  TopologySpec topology = test::equal_devices(2);
  topology.execution = Execution::kStaged;
  const test::Instance instance = test::build_instance(graph, topology);
  const Assignment assignment{0, 1, 0, 0, 0, 0};
  const Division fewest = divide(*instance.problem, assignment, StageRule::kFewest);
  CHECK(fewest.stage_of == Numbers{0, 1, 0, 2, 0, 0});
  CHECK(fewest.device == Numbers{0, 1, 0});
  const Division overlap = divide(*instance.problem, assignment, StageRule::kOverlap);
  CHECK(overlap.stage_of == Numbers{0, 1, 2, 3, 3, 3});
  // Overlap: 0 to 10, then 1 at 11 beside 2 at 10; 3 waits for 1, which arrives at 22.
  Simulator simulator(*instance.problem);
  CHECK(simulator.run(assignment, overlap).makespan_us == 22 + 30);
  // By crossings 4 and 5 run beside 1, too, and 3 alone waits for it.
  const Division crossings = divide(*instance.problem, assignment, StageRule::kCrossings);
  CHECK(crossings.stage_of == Numbers{0, 1, 2, 3, 2, 2});
  CHECK(crossings.device == Numbers{0, 1, 0, 0});
  CHECK(simulator.makespan_us(assignment) == 10 + 30 + 10);
}

TEST_CASE("stages follow their definitions, on any graph and placement") {
  Random random(31);
  for (int i = 0; i < 300; ++i) {
    const test::Instance instance = test::random_instance({.most_nodes = 20}, 16, random);
    if (!instance.problem) continue;
    const Problem& problem = *instance.problem;
    const Assignment assignment = test::random_assignment(problem, random);
    for (StageRule rule : kStageRules) {
      const Division division = divide(problem, assignment, rule);
      CHECK(division.stage_of == test::divide_slowly(problem, assignment, rule));
      for (uint32_t v = 0; v < problem.node_count(); ++v) {
        REQUIRE(division.device[division.stage_of[v]] == assignment[v]);
        for (const OutEdge& e : problem.graph().out_edges(v)) {
          CHECK(division.stage_of[v] <= division.stage_of[e.target]);
        }
      }
    }
  }
}

TEST_CASE("any division in any order that is possible runs as the slow evaluator says") {
  Random random(32);
  for (int i = 0; i < 400; ++i) {
    const test::Instance instance =
        test::random_instance({.most_nodes = 14}, 16 + random.below(8), random);
    if (!instance.problem) continue;
    const Problem& problem = *instance.problem;
    const Assignment assignment = test::random_assignment(problem, random);
    // Stages of a random length along the topological order, a device's nodes in one as long as it
    // is open.
    Division division;
    division.stage_of.resize(problem.node_count());
    Numbers open(problem.device_count(), kNoIndex);
    for (uint32_t v : problem.graph().topological_order()) {
      uint32_t& stage = open[assignment[v]];
      if (stage == kNoIndex || stage + 1 != division.stage_count() || random.below(3) == 0) {
        stage = division.stage_count();
        division.device.push_back(assignment[v]);
      }
      division.stage_of[v] = stage;
    }
    if (random.below(2) == 0) {
      division.order.resize(division.stage_count());
      std::iota(division.order.begin(), division.order.end(), 0u);
    }
    const test::SlowStages expected =
        test::SlowStagedRun(problem, assignment, division.stage_of, division.order).run();
    Simulator simulator(problem);
    const Timeline& timeline = simulator.run(assignment, division);
    CHECK(timeline.makespan_us == doctest::Approx(expected.makespan_us).epsilon(1e-12));
    CHECK(timeline.stage_order == expected.started);
    CHECK(timeline.transfers.size() == expected.sent.size());
    for (uint32_t v = 0; v < problem.node_count(); ++v) {
      CHECK(timeline.start_us[v] == doctest::Approx(expected.start_us[v]).epsilon(1e-12));
    }
  }
}

TEST_CASE("what a run records, division and order, gives the same run again") {
  Random random(33);
  for (int i = 0; i < 300; ++i) {
    const test::Instance instance =
        test::random_instance({.most_nodes = 20}, 16 + random.below(8), random);
    if (!instance.problem) continue;
    const Assignment assignment = test::random_assignment(*instance.problem, random);
    Simulator simulator(*instance.problem);
    const Timeline first = simulator.run(assignment);
    Division division{first.stage_of, {}, first.stage_order};
    for (const StageSlice& stage : first.stages) division.device.push_back(stage.device);
    const Timeline& again = simulator.run(assignment, division);
    CHECK(again.start_us == first.start_us);
    CHECK(again.drain_us == first.drain_us);
    CHECK(again.peak_memory_bytes == first.peak_memory_bytes);
    CHECK(again.stage_order == first.stage_order);
  }
}

TEST_CASE("renumbering keeps the stages, and finds those that wait for each other in a circle") {
  const test::Instance instance = three_stages();
  StageTables tables(*instance.problem);
  Division division{{2, 0, 1}, {0, 1, 0}, {}};
  REQUIRE(renumber_stages(tables.graph(), division));
  CHECK(division.stage_of == Numbers{0, 1, 2});
  CHECK(division.device == Numbers{0, 0, 1});
  Division circle{{0, 1, 0}, {0, 1}, {}};
  CHECK(!renumber_stages(tables.graph(), circle));
  Division gap{{0, 2, 2}, {0, 1, 1}, {}};
  REQUIRE(renumber_stages(tables.graph(), gap));
  CHECK(gap.stage_of == Numbers{0, 1, 1});
  CHECK(gap.device == Numbers{0, 1});
}

TEST_CASE("renumbering follows a recorded order as far as dependencies allow") {
  const Numbers order{2, 1, 0};
  const test::Instance apart = test::weights({1, 1, 1}, {10, 10});
  Division division{{0, 1, 2}, {0, 0, 1}, order};
  REQUIRE(renumber_stages(StageTables(*apart.problem).graph(), division));
  CHECK(division.stage_of == Numbers{2, 1, 0});
  CHECK(division.device == Numbers{1, 0, 0});
  CHECK(division.order == Numbers{0, 1, 2});
  const test::Instance chain = three_stages();
  Division forced{{0, 1, 2}, {0, 0, 1}, order};
  REQUIRE(renumber_stages(StageTables(*chain.problem).graph(), forced));
  CHECK(forced.stage_of == Numbers{0, 1, 2});
  CHECK(forced.order == Numbers{0, 1, 2});
}

TEST_CASE("a score below its cutoff is exact, and none above it comes back below") {
  Random random(34);
  int overflowing = 0;
  for (uint32_t i = 0; i < 800; ++i) {
    const test::RandomMemory memory{50, i % 2 == 0 ? 300u : 0u};
    const test::Instance instance = test::random_instance(
        {.most_nodes = 20, .whole_numbers = i % 3 == 0}, 16 + i % 8, random, memory);
    if (!instance.problem) continue;
    const Assignment assignment = test::random_assignment(*instance.problem, random);
    Evaluator evaluator(*instance.problem);
    const Score exact = evaluator.evaluate(assignment);
    const Division division = recorded_division(evaluator.timeline(assignment));
    overflowing += exact.feasible() ? 0 : 1;
    const double us = exact.objective_us, infinity = std::numeric_limits<double>::infinity();
    for (const double cutoff : {0.5 * us, 0.999 * us, std::nextafter(us, 0), us,
                                std::nextafter(us, infinity), 1.1 * us}) {
      for (const Score& score : {evaluator.evaluate(assignment, {}, cutoff),
                                 evaluator.evaluate(assignment, division, cutoff)}) {
        if (exact.objective_us < cutoff) {
          CHECK(score == exact);
        } else {
          CHECK(score.objective_us >= cutoff);
        }
      }
    }
  }
  CHECK(overflowing > 50);
}

TEST_CASE("a score says of memory what the timeline says, however a placement is divided") {
  Random random(35);
  int fitting = 0, overflowing = 0;
  for (uint32_t i = 0; i < 800; ++i) {
    const test::Instance instance =
        test::random_instance({.most_nodes = 20}, 16 + i % 8, random, {50, 600});
    if (!instance.problem) continue;
    const Problem& problem = *instance.problem;
    const Assignment assignment = test::random_assignment(problem, random);
    Numbers nodes(problem.node_count());
    std::iota(nodes.begin(), nodes.end(), 0u);
    Evaluator evaluator(problem);
    for (const Division& division :
         {recorded_division(evaluator.timeline(assignment)), Division{nodes, assignment, {}}}) {
      const Timeline& timeline = evaluator.timeline(assignment, division);
      Score expected{0, timeline.makespan_us};
      for (const uint64_t bytes : memory_shortfall(problem, timeline.peak_memory_bytes)) {
        expected.overflow_bytes += bytes;
      }
      if (problem.objective() == Objective::kThroughput)
        expected.objective_us = timeline.bottleneck_us;
      CHECK(evaluator.evaluate(assignment, division) == expected);
      ++(expected.feasible() ? fitting : overflowing);
    }
  }
  CHECK(fitting > 50);
  CHECK(overflowing > 50);
}

TEST_CASE("a placement without stages is divided by the rule that fits best, then runs best") {
  Random random(36);
  int fitting = 0, shortest = 0;
  for (uint32_t i = 0; i < 2'000; ++i) {
    Rules rules;
    rules.objective = i % 2 == 0 ? Objective::kLatency : Objective::kThroughput;
    const test::Instance instance =
        test::random_instance({.most_nodes = 20}, 20 + i % 4, random, {50, 600}, rules);
    if (!instance.problem || !instance.problem->is_staged()) continue;
    const Problem& problem = *instance.problem;
    const Assignment assignment = test::random_assignment(problem, random);
    const StageTables tables(problem);
    Evaluator evaluator(problem);
    Score least = Score::worst();
    double least_us = kNever;
    for (const StageRule rule : kStageRules) {
      Division division;
      StageFormer(tables.graph(), problem.device_count()).form(assignment, rule, division);
      const Score score = evaluator.evaluate(assignment, division);
      least = std::min(least, score);
      least_us = std::min(least_us, score.objective_us);
    }
    CHECK(evaluator.evaluate(assignment) == least);
    fitting += least.feasible();
    shortest += least.objective_us == least_us;
    Simulator simulator(problem);
    const Timeline& timeline = simulator.run(assignment);
    CHECK(overflow_bytes(problem, timeline.peak_memory_bytes) == least.overflow_bytes);
    CHECK((problem.is_for_latency() ? timeline.makespan_us : timeline.bottleneck_us) ==
          least.objective_us);
  }
  CHECK(fitting > 50);
  CHECK(shortest > 50);
}

// 0 and 1 are in one stage, 2 in the next; 0 alone makes what 2 reads.
TEST_CASE("the critical path goes through all that a stage runs before it hands over") {
  GraphSpec graph;
  graph.nodes.resize(3);
  for (uint32_t v = 0; v < 3; ++v) {
    graph.nodes[v].name = std::to_string(v);
    graph.nodes[v].cost_us = {10};
    graph.nodes[v].outputs = {10};
  }
  graph.edges = {{0, 0, 1}, {0, 0, 2}};
  TopologySpec topology = test::equal_devices(2);
  topology.execution = Execution::kStaged;
  const test::Instance instance = test::build_instance(graph, topology);
  const Assignment assignment{0, 0, 1};
  Simulator simulator(*instance.problem);
  const Division division{{0, 0, 1}, {0, 1}, {}};
  const Timeline& timeline = simulator.run(assignment, division);
  CHECK(timeline.makespan_us == 31);
  const CriticalPath path = critical_path(*instance.problem, assignment, timeline);
  CHECK(path.nodes == Numbers{0, 1, 2});
  CHECK(path.transfers == Numbers{0});
}

}  // namespace placeto
