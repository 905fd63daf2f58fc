#include "runtime/search/polish.h"

#include <doctest/doctest.h>

#include "runtime/placer/explain.h"
#include "tests/support/random_problem.h"

namespace placeto {

TEST_CASE("after polishing no group has a better device, under any rule set") {
  Random random(91);
  int improved = 0;
  for (uint32_t rules = 0; rules < test::kRuleSets; ++rules) {
    for (int i = 0; i < 12; ++i) {
      const test::RandomShape shape{
          .most_nodes = 40, .whole_numbers = i % 2 == 0, .restrictions = i % 3 == 0};
      Rules caller;
      if (i % 5 == 4) caller.objective = Objective::kThroughput;
      const test::RandomMemory memory{50, i % 4 == 1 ? 600u : 0u};
      const test::Instance instance = test::random_instance(shape, rules, random, memory, caller);
      if (!instance.problem) continue;
      CAPTURE(rules);
      CAPTURE(i);
      const Problem& problem = *instance.problem;
      MoveEvaluator evaluator(problem);
      Candidate best{"start", test::random_assignment(problem, random), {}};
      best.score = evaluator.rebase(best.assignment);
      const Score before = best.score;
      const Hierarchy hierarchy(problem);
      polish(i % 2 == 0 ? &hierarchy : nullptr, evaluator, best);
      REQUIRE(best.one_move_optimal);
      CHECK(best.score <= before);
      CHECK(obeys_rules(problem, best.assignment));
      improved += best.score < before;
      Evaluator check(problem);
      CHECK(best.score == check.evaluate(best.assignment));
      Explainer explainer(problem, best.assignment);
      for (uint32_t v = 0; v < problem.node_count(); ++v) {
        const Reason reason = explainer.explain(v);
        if (reason.second) CHECK(reason.second->score >= best.score);
      }
    }
  }
  CHECK(improved > 100);
}

TEST_CASE("a stopped polishing returns no worse and claims nothing") {
  Random random(92);
  const test::Instance instance =
      test::build_instance(test::random_graph({.most_nodes = 40}, random), test::equal_devices(2));
  REQUIRE(instance.problem);
  const std::atomic<bool> cancel = true;
  Stop stop(&cancel);
  CHECK(stop.requested());
  MoveEvaluator evaluator(*instance.problem, &stop);
  Candidate best{"start", test::random_assignment(*instance.problem, random), {0, 1e9}};
  const Assignment start = best.assignment;
  polish(nullptr, evaluator, best);
  CHECK(!best.one_move_optimal);
  CHECK(best.assignment == start);
}

TEST_CASE("a large problem is polished by searches as long as a round, in stages by ten such") {
  for (const Execution execution : {Execution::kParallel, Execution::kStaged}) {
    TopologySpec topology = test::equal_devices(4);
    topology.execution = execution;
    Random random(93);
    const test::Instance instance =
        test::build_instance(test::random_graph({.most_nodes = 2'000}, random), topology);
    REQUIRE(instance.problem);
    REQUIRE(!always_polished(*instance.problem));
    const uint64_t moves = uint64_t{3} * instance.problem->group_count();
    const uint64_t enough = execution == Execution::kStaged ? 10 * moves : moves;
    CHECK(!polish_pays(*instance.problem, enough - 1));
    CHECK(polish_pays(*instance.problem, enough));
  }
}

}  // namespace placeto
