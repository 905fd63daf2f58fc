#include "runtime/search/search.h"

#include <doctest/doctest.h>

#include <array>
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

void windows_alone(const Hierarchy&, const Budget& budget, uint64_t seed, MoveEvaluator& evaluator,
                   Candidate& start, const SearchOptions&) {
  window_search(budget, seed, evaluator, start);
}

// Each kind of search keeps the same promises.
constexpr std::array kSearches = {&adaptive_search, &multilevel_search, &windows_alone};

Candidate searched(decltype(&adaptive_search) search, const Problem& problem,
                   const Assignment& start, const Budget& budget, uint64_t seed,
                   Stop* stop = nullptr) {
  const Hierarchy hierarchy(problem);
  MoveEvaluator evaluator(problem, stop);
  Candidate candidate{"search", start, {}};
  search(hierarchy, budget, seed, evaluator, candidate, {});
  return candidate;
}

// Memory limits that some placements exceed.
test::Instance tight_instance(uint32_t rules, Random& random) {
  const test::RandomShape shape{.most_nodes = 40, .restrictions = true};
  Rules caller;
  if (random.below(4) == 0) caller.objective = Objective::kThroughput;
  return test::random_instance(shape, rules, random, {50, 600}, caller);
}

}  // namespace

TEST_CASE(
    "a search is never worse than its start, obeys the rules, reports the true score and "
    "keeps to its budget") {
  Random random(81);
  int overflowing = 0, improved[3] = {};
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
      overflowing += before.feasible() ? 0 : 1;
      const Hierarchy hierarchy(problem);
      for (size_t kind = 0; kind < kSearches.size(); ++kind) {
        for (const uint64_t count : {1u, 3u, 200u}) {
          MoveEvaluator moves(problem);
          Candidate candidate{"search", start, {}};
          kSearches[kind](hierarchy, evaluations(count), 1, moves, candidate, {});
          CHECK(candidate.score <= before);
          CHECK(candidate.score == evaluator.evaluate(candidate.assignment));
          CHECK(std::isfinite(candidate.score.objective_us));
          CHECK(obeys_rules(problem, candidate.assignment));
          CHECK(moves.evaluations() <= count);
          improved[kind] += count == 200 && candidate.score < before;
        }
      }
    }
  }
  CHECK(overflowing > 20);
  for (const int count : improved) CHECK(count > 100);
}

TEST_CASE("a search gives the same answer for the same seed and budget") {
  Random random(82);
  for (auto* search : kSearches) {
    bool seed_matters = false;
    for (int i = 0; i < 20; ++i) {
      const test::Instance instance =
          test::random_instance({.most_nodes = 60}, random.below(test::kRuleSets), random);
      if (!instance.problem) continue;
      const Problem& problem = *instance.problem;
      const Assignment start = test::random_assignment(problem, random);
      const Candidate a = searched(search, problem, start, evaluations(150), 7);
      const Candidate b = searched(search, problem, start, evaluations(150), 7);
      CHECK(a.assignment == b.assignment);
      CHECK(a.score == b.score);
      seed_matters |=
          searched(search, problem, start, evaluations(150), 8).assignment != a.assignment;
    }
    CHECK(seed_matters);
  }
}

TEST_CASE("windows of the timeline are worth more than moves on large graphs") {
  Random random(84);
  double log_ratio = 0;
  for (int graphs = 0; graphs < 5;) {
    const test::Instance instance = test::random_instance({.most_nodes = 400}, 0, random);
    REQUIRE(instance.problem);
    if (instance.problem->node_count() < 200) continue;
    ++graphs;
    const Assignment start = test::random_assignment(*instance.problem, random);
    const auto makespan_us = [&](auto* search) {
      return searched(search, *instance.problem, start, evaluations(100), 1).score.objective_us;
    };
    log_ratio += std::log(makespan_us(&windows_alone) / makespan_us(&multilevel_search));
  }
  CHECK(log_ratio / 5 < -0.05);
}

TEST_CASE("windows that change nothing use a budget up, too") {
  // A chain whose transfers take longer than everything else together stays where it is.
  GraphSpec graph;
  for (uint32_t v = 0; v < 2'000; ++v) {
    NodeSpec node;
    node.name = std::to_string(v);
    node.cost_us = {1};
    node.outputs = {1'000'000};
    graph.nodes.push_back(node);
    if (v > 0) graph.edges.push_back({v - 1, 0, v});
  }
  const test::Instance instance = test::build_instance(graph, test::equal_devices(2));
  REQUIRE(instance.problem);
  for (auto* search : {&adaptive_search, &windows_alone}) {
    int looks = 0;
    Stop stop([](void* count) { return ++*static_cast<int*>(count), false; }, &looks);
    const Assignment start(2'000, 0);
    CHECK(searched(search, *instance.problem, start, evaluations(20), 1, &stop).assignment ==
          start);
    CHECK(looks < 500);  // of 4,096 nodes or edges each: 20 windows or moves, and the hierarchy
  }
}

TEST_CASE("a cancelled search returns its start") {
  Random random(83);
  const test::Instance instance = test::random_instance({.most_nodes = 40}, 0, random);
  REQUIRE(instance.problem);
  const Assignment start = test::random_assignment(*instance.problem, random);
  const std::atomic<bool> cancel = true;
  for (auto* search : kSearches) {
    Stop stop(&cancel);
    const Budget budget = evaluations(1'000'000'000);
    CHECK(searched(search, *instance.problem, start, budget, 1, &stop).assignment == start);
  }
}

}  // namespace placeto
