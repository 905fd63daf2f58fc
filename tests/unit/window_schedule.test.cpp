#include "runtime/heuristics/window_schedule.h"

#include <doctest/doctest.h>

#include <algorithm>

#include "runtime/cost/move_evaluator.h"
#include "runtime/heuristics/earliest_finish.h"
#include "tests/support/random_problem.h"

namespace placeto {
namespace {

// a -> b and e -> f, 100 bytes each. With a and e on device 0 and the others on device 1:
//   device 0   a 0-10, e 10-20
//   its egress a 10-20, e 20-30
//   device 1   b 20-40, f 40-41
GraphSpec two_pairs() {
  GraphSpec graph;
  for (const auto& [name, cost] : {std::pair{"a", 10.0}, {"b", 20.0}, {"e", 10.0}, {"f", 1.0}}) {
    graph.nodes.emplace_back();
    graph.nodes.back().name = name;
    graph.nodes.back().cost_us = {cost};
    graph.nodes.back().outputs = {100};
  }
  graph.edges = {{0, 0, 1}, {2, 0, 3}};
  return graph;
}

// Each node but the first reads from one or two of the ten before it.
GraphSpec one_output_each(uint32_t nodes, Random& random) {
  GraphSpec graph;
  for (uint32_t v = 0; v < nodes; ++v) {
    graph.nodes.emplace_back();
    graph.nodes.back().name = "n" + std::to_string(v);
    graph.nodes.back().cost_us = {1 + 20 * random.uniform()};
    graph.nodes.back().outputs = {10 + random.below(300)};
    if (v == 0) continue;
    const uint32_t reach = std::min(v, 10u), first = v - 1 - random.below(reach);
    const uint32_t second = v - 1 - random.below(reach);
    graph.edges.push_back({first, 0, v});
    if (second != first) graph.edges.push_back({second, 0, v});
  }
  return graph;
}

// A placement of a problem, and its run.
struct PlacedRun {
  explicit PlacedRun(const Problem& problem, Assignment from)
      : assignment(std::move(from)), evaluator(problem) {
    evaluator.rebase(assignment);
    evaluator.start_order(order);
  }
  void load_into(WindowSchedule& schedule) const {
    schedule.load(order, assignment, evaluator.start_us(), evaluator.finish_us());
  }

  Assignment assignment;
  MoveEvaluator evaluator;
  std::vector<uint32_t> order;
};

// With the timeline of a run loaded.
struct WindowBuilder {
  WindowBuilder(const Problem& problem, const PlacedRun& run)
      : latest(problem.node_count(), 0), plan(problem), builder(problem) {
    builder.load(run.order, {run.assignment, latest}, run.evaluator.start_us(),
                 run.evaluator.finish_us(), plan);
  }
  double place(Window window, const PassRule& rule, EarliestFinish::Keep keep) {
    return builder.place_window(window, rule, keep, changes);
  }

  std::vector<double> latest;
  MemoryPlan plan;
  EarliestFinish builder;
  std::vector<Change> changes;
};

Window draw_window(const Problem& problem, Random& random) {
  const uint32_t begin = random.below(problem.node_count());
  return {begin, begin + 1 + random.below(problem.node_count() - begin)};
}

}  // namespace

TEST_CASE("latest starts count readers, the device's next node and the channel's next transfer") {
  const test::Instance instance = test::build_instance(two_pairs(), test::equal_devices(2));
  const PlacedRun run(*instance.problem, {0, 1, 0, 1});
  CHECK(run.order == std::vector<uint32_t>{0, 2, 1, 3});
  WindowSchedule schedule(*instance.problem);
  run.load_into(schedule);
  CHECK(schedule.makespan_us() == 41);
  CHECK(schedule.latest_start_us(3) == 40);
  CHECK(schedule.latest_start_us(1) == 20);  // f is next
  CHECK(schedule.latest_start_us(2) == 20);  // its tensor has to be on the way at 30
  CHECK(schedule.latest_start_us(0) == 0);
}

TEST_CASE("lateness is that of the latest reader, device and channel behind the window") {
  const test::Instance instance = test::build_instance(two_pairs(), test::equal_devices(2));
  const PlacedRun run(*instance.problem, {0, 1, 0, 1});
  WindowSchedule schedule(*instance.problem);
  run.load_into(schedule);
  const std::vector<uint32_t> stay(4, kNoIndex);
  SUBCASE("where the node was") {
    schedule.open({1, 2});
    schedule.place(2, 0);
    // f has its input at 30 and can wait until 40
    CHECK(schedule.lateness_behind_us(2, stay) == -10);
  }
  SUBCASE("on the other device") {
    schedule.open({1, 2});
    schedule.place(2, 1);
    CHECK(schedule.lateness_behind_us(2, stay) == -10);  // free at 10, and b can wait until 20
  }
  SUBCASE("with the reader placed, too") {
    std::vector<uint32_t> moved = stay;
    moved[3] = 0;
    schedule.open({1, 2});
    schedule.place(2, 1);
    CHECK(schedule.lateness_behind_us(2, moved) == -10);
  }
  SUBCASE("when the first of two transfers goes later") {
    schedule.open({0, 2});
    schedule.place(0, 0);
    schedule.place(2, 0);
    CHECK(schedule.lateness_behind_us(2, stay) == 0);  // b's input arrives at 20
  }
  schedule.close();
}

TEST_CASE("no node of a timeline starts after its latest start, and some start just then") {
  Random random(71);
  for (uint32_t rules = 0; rules < 8; ++rules) {  // nodes run in parallel
    CAPTURE(rules);
    for (int i = 0; i < 5; ++i) {
      TopologySpec topology = test::equal_devices(2 + random.below(4));
      test::set_rules(rules, topology);
      topology.op_gap_us = 2;
      topology.default_link.gap_us = 3;
      topology.default_link.latency_us = 5;
      const test::Instance instance = test::build_instance(one_output_each(80, random), topology);
      const Problem& problem = *instance.problem;
      const PlacedRun run(problem, test::random_assignment(problem, random));
      WindowSchedule schedule(problem);
      run.load_into(schedule);
      uint32_t critical = 0;
      for (uint32_t v = 0; v < problem.node_count(); ++v) {
        const double slack = schedule.latest_start_us(v) - run.evaluator.start_us()[v];
        CHECK(slack >= -1e-9 * schedule.makespan_us());
        critical += slack < 1e-9 * schedule.makespan_us();
      }
      CHECK(critical > 0);
    }
  }
}

TEST_CASE("a window that is closed leaves nothing behind") {
  Random random(72);
  for (uint32_t rules = 0; rules < test::kRuleSets; ++rules) {
    CAPTURE(rules);
    const test::Instance instance =
        test::random_instance({.most_nodes = 40, .restrictions = true}, rules, random);
    if (!instance.problem) continue;
    const Problem& problem = *instance.problem;
    const PlacedRun run(problem, test::random_assignment(problem, random));
    WindowBuilder builder(problem, run);
    for (int i = 0; i < 20; ++i) {
      const Window window = draw_window(problem, random);
      const PassRule rule = PassRule::draw(random);
      const auto keep = i % 2 == 0 ? EarliestFinish::Keep::kAll : EarliestFinish::Keep::kLeastLate;
      WindowBuilder fresh(problem, run);
      CHECK(builder.place(window, rule, keep) == fresh.place(window, rule, keep));
      const std::vector<Change>&changes = builder.changes, &expected = fresh.changes;
      REQUIRE(changes.size() == expected.size());
      for (size_t c = 0; c < changes.size(); ++c) {
        CHECK(changes[c].node == expected[c].node);
        CHECK(changes[c].device == expected[c].device);
      }
    }
  }
}

TEST_CASE("the part that is kept of a window is what a window that ends there would be") {
  Random random(74);
  uint32_t shorter = 0;
  for (uint32_t rules = 0; rules < test::kRuleSets; ++rules) {
    CAPTURE(rules);
    const test::Instance instance = test::random_instance({.most_nodes = 60}, rules, random);
    if (!instance.problem) continue;
    const Problem& problem = *instance.problem;
    const PlacedRun run(problem, test::random_assignment(problem, random));
    WindowBuilder builder(problem, run), shorter_ones(problem, run);
    for (int i = 0; i < 10; ++i) {
      const Window window = draw_window(problem, random);
      const PassRule rule = PassRule::draw(random);
      const double late_us = builder.place(window, rule, EarliestFinish::Keep::kLeastLate);
      bool found = false, whole = false;
      for (uint32_t end = window.begin + 1; end <= window.end && !found; ++end) {
        found =
            shorter_ones.place({window.begin, end}, rule, EarliestFinish::Keep::kAll) == late_us &&
            shorter_ones.changes.size() == builder.changes.size();
        whole = end == window.end;
      }
      CHECK(found);
      shorter += !whole;
    }
  }
  CHECK(shorter > 10);
}

TEST_CASE("a window that may not be late is what it would be, or nothing") {
  Random random(75);
  uint32_t kept[2] = {};
  for (uint32_t rules = 0; rules < test::kRuleSets; ++rules) {
    CAPTURE(rules);
    const test::Instance instance =
        test::random_instance({.most_nodes = 60, .restrictions = true}, rules, random);
    if (!instance.problem) continue;
    const Problem& problem = *instance.problem;
    const PlacedRun run(problem, test::random_assignment(problem, random));
    WindowBuilder builder(problem, run), bounded(problem, run);
    for (int i = 0; i < 20; ++i) {
      const Window window = draw_window(problem, random);
      const PassRule rule = PassRule::draw(random);
      const auto keep = EarliestFinish::Keep::kLeastLate;
      const double late_us = builder.place(window, rule, keep);
      const double bound_us = run.evaluator.score().objective_us * (0.2 * random.uniform() - 0.1);
      const double found_us =
          bounded.builder.place_window(window, rule, keep, bounded.changes, bound_us);
      CHECK(found_us == std::min(late_us, bound_us));
      CHECK(bounded.changes.size() == (late_us < bound_us ? builder.changes.size() : 0));
      ++kept[late_us < bound_us];
    }
  }
  CHECK(kept[0] > 20);
  CHECK(kept[1] > 20);
}

TEST_CASE("windows that make nothing late shorten the run much more often than others") {
  Random random(73);
  uint32_t drawn[2] = {}, better[2] = {};  // late, not late
  for (int i = 0; i < 40; ++i) {
    const test::Instance instance = test::random_instance(
        {.most_nodes = 60, .whole_numbers = false, .memory = false}, 0, random);
    if (!instance.problem) continue;
    const Problem& problem = *instance.problem;
    PlacedRun run(problem, test::random_assignment(problem, random));
    WindowBuilder builder(problem, run);
    for (int window = 0; window < 30; ++window) {
      const uint32_t begin = random.below(problem.node_count());
      const uint32_t end = std::min(begin + 1 + random.below(10), problem.node_count());
      const double late_us =
          builder.place({begin, end}, {PassRule::Kind::kFinish, 0}, EarliestFinish::Keep::kAll);
      if (builder.changes.empty()) continue;
      ++drawn[late_us < 0];
      better[late_us < 0] += run.evaluator.evaluate(builder.changes) < run.evaluator.score();
    }
  }
  MESSAGE("late: ", better[0], " of ", drawn[0], ", not late: ", better[1], " of ", drawn[1]);
  CHECK(drawn[0] > 100);
  CHECK(drawn[1] > 100);
  CHECK(better[1] * drawn[0] > 3 * better[0] * drawn[1]);
}

}  // namespace placeto
