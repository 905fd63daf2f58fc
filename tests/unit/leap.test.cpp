// Leaps: everything at once to where a policy expects it, then polished.
#include <doctest/doctest.h>

#include <algorithm>

#include "runtime/heuristics/workbench.h"
#include "runtime/placer/placer.h"
#include "runtime/policy/guide.h"
#include "runtime/policy/pairwise/pass.h"
#include "tests/support/examples.h"
#include "tests/support/random_problem.h"
#include "tests/support/small_policies.h"
#include "tests/unit/workloads_support.h"

namespace placeto {
namespace {

test::Instance layered_on(uint32_t devices, uint32_t nodes, uint64_t seed) {
  WorkloadOptions options;
  options.nodes = nodes;
  options.ccr = 0.5;
  options.seed = seed;
  return test::build_instance(generated("layered", options), test::equal_devices(devices));
}

}  // namespace

TEST_CASE("a leap moves each group to where its logit is highest and above that of staying, 0") {
  const auto policy = test::load_policy(test::small_leaping_policy());
  Random random(41);
  uint32_t moved = 0, stayed = 0;
  for (uint32_t i = 0; i < test::examples(30); ++i) {
    const test::Instance instance =
        test::random_instance({.most_nodes = 60}, i % test::kRuleSets, random);
    if (!instance.problem) continue;
    const Problem& problem = *instance.problem;
    const Hierarchy hierarchy(problem);
    MoveEvaluator evaluator(problem);
    const Assignment start = test::random_assignment(problem, random);
    evaluator.rebase(start);
    const Candidate before{"start", start, evaluator.score()};

    Assignment expected = start;
    PlacementState state(problem);
    state.refresh(evaluator);
    MoveFeatures features(problem, hierarchy);
    MoveScorer scorer(*policy, problem, KernelChoice::kPortable);
    for (uint32_t group = 0; group < hierarchy.group_count(0); ++group) {
      features.begin(state, 0, group);
      const auto devices = features.candidates();
      if (devices.empty()) continue;
      const auto logits = scorer.score_leap(features, devices);
      const auto best = std::ranges::max_element(logits);
      (*best > 0 ? moved : stayed) += 1;
      if (*best <= 0) continue;
      for (const uint32_t v : hierarchy.nodes(0, group)) {
        expected[v] = devices[static_cast<size_t>(best - logits.begin())];
      }
    }
    PairwisePlacer placer(*policy, problem, hierarchy);
    const Candidate leapt = placer.leap(before, evaluator);
    CHECK(leapt.assignment == expected);
    CHECK(leapt.score == Evaluator(problem).evaluate(expected));
    CHECK(obeys_rules(problem, leapt.assignment));
  }
  CHECK(moved > 30);
  CHECK(stayed > 30);
}

TEST_CASE("only policies with a network for it leap") {
  const test::Instance instance = layered_on(2, 40, 3);
  const Problem& problem = *instance.problem;
  for (const bool leaps : {false, true}) {
    const auto policy =
        test::load_policy(leaps ? test::small_leaping_policy() : test::small_pairwise_policy());
    const MethodOptions options;
    Workbench bench(problem, options);
    const auto guide = make_policy_guide(*policy, bench, KernelChoice::kPortable);
    REQUIRE(guide.ok());
    const Candidate start{"start", Assignment(problem.node_count(), 0), {}};
    CHECK((*guide)->leap(start, bench.move_evaluator()).has_value() == leaps);
  }
}

TEST_CASE("leaps find better answers than passes alone, one-move-optimal as all are") {
  const auto leaps = test::load_policy(test::small_leaping_policy());
  const auto passes = test::load_policy(test::small_pairwise_policy());
  uint32_t better = 0;
  for (uint64_t seed = 1; seed <= 60; ++seed) {
    const test::Instance instance =
        layered_on(static_cast<uint32_t>(2 + seed % 3), static_cast<uint32_t>(30 + seed), seed);
    const Problem& problem = *instance.problem;
    const auto by = [&](const Policy* policy) {
      return place_auto(problem, {}, {.policy = policy})->best;
    };
    const Candidate with = by(leaps.get());
    CHECK(with.one_move_optimal);
    CHECK(with.assignment == by(leaps.get()).assignment);
    CHECK(with.score <= by(nullptr).score);
    better += with.score < by(passes.get()).score;
  }
  CHECK(better > 0);
}

}  // namespace placeto
