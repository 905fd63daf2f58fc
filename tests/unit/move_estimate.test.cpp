#include "runtime/timeline/move_estimate.h"

#include <doctest/doctest.h>

#include <algorithm>

#include "tests/support/placed_run.h"

namespace placeto {

TEST_CASE(
    "a move is as late as what it makes wait, on its device, its channels and at its readers") {
  // device 0: a 0-10, e 10-20; its egress: a 10-20, e 20-30; device 1: b 20-40, f 40-41
  const test::Instance instance = test::build_instance(test::two_pairs(), test::equal_devices(3));
  const test::PlacedRun run(*instance.problem, {0, 1, 0, 1});
  MoveEstimate estimate(*instance.problem);
  const auto change_us = [&](uint32_t node, uint32_t device) {
    return estimate.change_us(run.queues, {&node, 1}, device);
  };
  // e before b, its tensor there at once: f is behind b still, and b need not wait.
  CHECK(change_us(2, 1) == 0);
  // f to a's device: e is through at 20, so it ends at 21; the makespan waits for it, and nothing
  // else that stays is asked.
  CHECK(change_us(3, 0) == -20);
  // b to a's device, where it is ready at 10 and before nothing that starts later.
  CHECK(change_us(1, 0) == -1);
  // a to a third device, where its tensor is sent at 10 as before.
  CHECK(change_us(0, 2) == 0);
}

TEST_CASE("an estimate leaves nothing behind, and is told early if it is enough") {
  Random random(81);
  for (uint32_t rules = 0; rules < test::kRuleSets; ++rules) {
    CAPTURE(rules);
    const test::Instance instance = test::random_instance({.most_nodes = 40}, rules, random);
    if (!instance.problem) continue;
    const Problem& problem = *instance.problem;
    const test::PlacedRun run(problem, test::random_assignment(problem, random));
    MoveEstimate estimate(problem);
    for (int i = 0; i < 40; ++i) {
      const auto nodes = problem.members(random.below(problem.group_count()));
      const uint32_t device = random.below(problem.device_count());
      const double change_us = estimate.change_us(run.queues, nodes, device);
      MoveEstimate fresh(problem);
      CHECK(fresh.change_us(run.queues, nodes, device) == change_us);
      const double enough_us = run.queues.makespan_us() * (0.4 * random.uniform() - 0.2);
      const double found_us = estimate.change_us(run.queues, nodes, device, enough_us);
      CHECK((change_us < enough_us ? found_us == change_us : found_us >= std::min(enough_us, 0.0)));
    }
  }
}

TEST_CASE("moves that it expects to shorten the run do so much more often than others") {
  Random random(82);
  uint32_t drawn[2] = {}, better[2] = {};         // not expected, expected
  for (uint32_t rules = 0; rules < 8; ++rules) {  // nodes run in parallel
    for (int i = 0; i < 10; ++i) {
      const test::Instance instance = test::random_instance(
          {.most_nodes = 60, .whole_numbers = false, .memory = false}, rules, random);
      if (!instance.problem) continue;
      const Problem& problem = *instance.problem;
      test::PlacedRun run(problem, test::random_assignment(problem, random));
      MoveEstimate estimate(problem);
      for (int move = 0; move < 60; ++move) {
        const uint32_t node = random.below(problem.node_count());
        const uint32_t device = random.below(problem.device_count());
        const auto members = problem.members(problem.group_of(node));
        if (run.assignment[node] == device || !problem.allowed(problem.group_of(node), device)) {
          continue;
        }
        std::vector<Change> changes;
        for (const uint32_t v : members) changes.push_back({v, device});
        const bool expected = estimate.change_us(run.queues, members, device) < 0;
        ++drawn[expected];
        better[expected] += run.evaluator.evaluate(changes) < run.evaluator.score();
      }
    }
  }
  MESSAGE("not expected: ", better[0], " of ", drawn[0], ", expected: ", better[1], " of ",
          drawn[1]);
  CHECK(drawn[0] > 100);
  CHECK(drawn[1] > 100);
  CHECK(better[1] * drawn[0] > 3 * better[0] * drawn[1]);
}

}  // namespace placeto
