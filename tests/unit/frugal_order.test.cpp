#include "runtime/search/frugal_order.h"

#include <doctest/doctest.h>

#include <numeric>

#include "runtime/placer/placer.h"
#include "tests/support/random_problem.h"
#include "tests/support/shrinking_branches.h"

namespace placeto {
namespace {

// Of staged random problems, with a placement each.
template <class Check>
void each_placement(const Check& check) {
  Random random(91);
  for (int i = 0; i < 200; ++i) {
    const test::Instance instance = test::random_instance({.most_nodes = 40, .most_devices = 4},
                                                          test::kStagedRules + random.below(8),
                                                          random, {50, i % 2 == 0 ? 300u : 0u});
    if (!instance.problem) continue;
    CAPTURE(i);
    check(*instance.problem, test::random_assignment(*instance.problem, random));
  }
}

}  // namespace

TEST_CASE("next is the node that leaves least held") {
  const test::Instance instance = test::shrinking_branches(20, 0);
  REQUIRE(instance.problem);
  const Assignment alone(instance.problem->node_count(), 0);
  Evaluator evaluator(*instance.problem);
  CHECK(!evaluator.evaluate(alone).feasible());
  CHECK(evaluator.evaluate(alone, frugal_order(*instance.problem, alone)).feasible());
}

TEST_CASE("every node is a stage, behind what it depends on") {
  each_placement([](const Problem& problem, const Assignment& assignment) {
    const Division division = frugal_order(problem, assignment);
    REQUIRE(division.stage_count() == problem.node_count());
    std::vector<uint32_t> seen(problem.node_count(), 0);
    for (uint32_t v = 0; v < problem.node_count(); ++v) {
      const uint32_t stage = division.stage_of[v];
      CHECK(++seen[stage] == 1);
      CHECK(division.device[stage] == assignment[v]);
      CHECK(division.order[stage] == stage);
      for (const InEdge& in : problem.graph().in_edges(v)) {
        CHECK(division.stage_of[in.source] < stage);
      }
    }
  });
}

TEST_CASE("gathering makes nothing worse, and says truly what the stages cost") {
  uint32_t gathered = 0;
  each_placement([&](const Problem& problem, const Assignment& assignment) {
    Evaluator evaluator(problem);
    Candidate candidate;
    Division division = frugal_order(problem, assignment);
    const Score before = evaluator.evaluate(assignment, division);
    candidate.take(assignment, before, std::move(division));
    gather_stages(1'000, evaluator, candidate);
    CHECK(candidate.score <= before);
    CHECK(candidate.score == evaluator.evaluate(assignment, candidate.division));
    gathered += candidate.division.stage_count() < problem.node_count();
    const uint64_t spent = evaluator.evaluations();
    gather_stages(3, evaluator, candidate);
    CHECK(evaluator.evaluations() <= spent + 3);
  });
  CHECK(gathered > 100);
}

TEST_CASE("a graph that one device holds in but few orders is placed, in few stages") {
  constexpr uint32_t kBranches = 100;
  const test::Instance instance = test::shrinking_branches(kBranches, 0);
  REQUIRE(instance.problem);
  const PlaceOutcome placed = place_auto(*instance.problem, {});
  REQUIRE(placed.ok());
  CHECK(placed->best.score.feasible());
  CHECK(placed->best.division.stage_count() <= kBranches + 1);
}

}  // namespace placeto
