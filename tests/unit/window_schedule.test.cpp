#include "runtime/heuristics/window_schedule.h"

#include <doctest/doctest.h>

#include <algorithm>

#include "runtime/heuristics/earliest_finish.h"
#include "tests/support/placed_run.h"

namespace placeto {
namespace {

// With the timeline of a run loaded.
struct WindowBuilder {
  WindowBuilder(const Problem& problem, const test::PlacedRun& run)
      : latest(problem.node_count(), 0), plan(problem), builder(problem) {
    builder.load(run.queues, {run.assignment, latest}, plan);
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

TEST_CASE("lateness is that of the latest reader, device and channel behind the window") {
  const test::Instance instance = test::build_instance(test::two_pairs(), test::equal_devices(2));
  const test::PlacedRun run(*instance.problem, {0, 1, 0, 1});
  WindowSchedule schedule(*instance.problem);
  schedule.load(run.queues);
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

TEST_CASE("a window that is closed leaves nothing behind") {
  Random random(72);
  for (uint32_t rules = 0; rules < test::kRuleSets; ++rules) {
    CAPTURE(rules);
    const test::Instance instance =
        test::random_instance({.most_nodes = 40, .restrictions = true}, rules, random);
    if (!instance.problem) continue;
    const Problem& problem = *instance.problem;
    const test::PlacedRun run(problem, test::random_assignment(problem, random));
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
    const test::PlacedRun run(problem, test::random_assignment(problem, random));
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
    const test::PlacedRun run(problem, test::random_assignment(problem, random));
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
    test::PlacedRun run(problem, test::random_assignment(problem, random));
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
