#include "runtime/heuristics/search.h"

#include <doctest/doctest.h>

#include <atomic>
#include <cmath>

#include "tests/support/random_problem.h"

namespace placeto {
namespace {

Budget evaluations(uint64_t count) {
  Budget budget;
  budget.evaluations = count;
  return budget;
}

Candidate searched(const Problem& problem, const Assignment& start, const Budget& budget,
                   uint64_t seed) {
  const Hierarchy hierarchy(problem);
  MoveEvaluator evaluator(problem, budget.stop);
  Candidate candidate{"search", start, {}};
  multilevel_search(problem, hierarchy, budget, seed, evaluator, candidate);
  return candidate;
}

// Memory limits that some placements exceed.
test::Instance tight_instance(uint32_t rules, Random& random) {
  const test::RandomShape shape{.most_nodes = 40, .restrictions = true};
  GraphSpec graph = test::random_graph(shape, random);
  TopologySpec topology = test::random_topology(shape, rules, random);
  for (DeviceSpec& device : topology.devices) device.memory_bytes = 50 + random.below(600);
  Rules caller;
  if (random.below(4) == 0) caller.objective = Objective::kThroughput;
  return test::build_instance(std::move(graph), std::move(topology), caller);
}

}  // namespace

TEST_CASE(
    "a search is never worse than its start, obeys the rules, reports the true score and "
    "keeps to its budget") {
  Random random(81);
  int overflowing = 0, improved = 0;
  for (uint32_t rules = 0; rules < test::kRuleSets; ++rules) {
    for (int i = 0; i < 25; ++i) {
      const test::Instance instance = tight_instance(rules, random);
      if (!instance.problem) continue;
      CAPTURE(rules);
      CAPTURE(i);
      const Problem& problem = *instance.problem;
      const Assignment start = test::random_assignment(problem, random);
      Evaluator evaluator(problem);
      const Score before = evaluator.evaluate(start);
      const Hierarchy hierarchy(problem);
      MoveEvaluator moves(problem);
      Candidate candidate{"search", start, {}};
      multilevel_search(problem, hierarchy, evaluations(200), 1, moves, candidate);
      CHECK(candidate.score <= before);
      CHECK(candidate.score == evaluator.evaluate(candidate.assignment));
      CHECK(std::isfinite(candidate.score.objective_us));
      CHECK(obeys_rules(problem, candidate.assignment));
      CHECK(moves.evaluations() <= 200);
      overflowing += before.feasible() ? 0 : 1;
      improved += candidate.score < before ? 1 : 0;
    }
  }
  CHECK(overflowing > 20);
  CHECK(improved > 100);
}

TEST_CASE("a search gives the same answer for the same seed and budget") {
  Random random(82);
  bool seed_matters = false;
  for (int i = 0; i < 20; ++i) {
    const test::Instance instance =
        test::random_instance({.most_nodes = 60}, random.below(test::kRuleSets), random);
    if (!instance.problem) continue;
    const Assignment start = test::random_assignment(*instance.problem, random);
    const Candidate a = searched(*instance.problem, start, evaluations(150), 7);
    const Candidate b = searched(*instance.problem, start, evaluations(150), 7);
    CHECK(a.assignment == b.assignment);
    CHECK(a.score == b.score);
    seed_matters |=
        searched(*instance.problem, start, evaluations(150), 8).assignment != a.assignment;
  }
  CHECK(seed_matters);
}

TEST_CASE("a cancelled search returns its start") {
  Random random(83);
  const test::Instance instance = test::random_instance({.most_nodes = 40}, 0, random);
  REQUIRE(instance.problem);
  const Assignment start = test::random_assignment(*instance.problem, random);
  const std::atomic<bool> cancel = true;
  Stop stop(&cancel);
  Budget budget = evaluations(1'000'000'000);
  budget.stop = &stop;
  CHECK(searched(*instance.problem, start, budget, 1).assignment == start);
}

}  // namespace placeto
