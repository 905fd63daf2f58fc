#include "runtime/search/promising_moves.h"

#include <doctest/doctest.h>

#include <cmath>

#include "runtime/heuristics/heuristics.h"
#include "runtime/heuristics/workbench.h"
#include "runtime/placer/placer.h"
#include "runtime/timeline/queues.h"
#include "tests/support/random_problem.h"
#include "tests/unit/workloads_support.h"
#include "tools/io/read.h"

namespace placeto {
namespace {

// Stops at one of the looks.
struct Bell {
  uint64_t at, looks = 0;
  static bool look(void* self) {
    auto* bell = static_cast<Bell*>(self);
    return ++bell->looks >= bell->at;
  }
};

// The i-th of graphs of 400 nodes on four K80s; `ccr`: communication to computation.
test::Instance on_four_k80s(int i, double ccr) {
  constexpr const char* kFamilies[] = {"layered", "erdos", "series_parallel", "fork_join"};
  WorkloadOptions graph;
  graph.nodes = 400;
  graph.ccr = ccr;
  graph.seed = static_cast<uint64_t>(i);
  test::Instance instance = test::build_instance(
      generated(kFamilies[i % 4], graph),
      read_topology_spec(PLACETO_SOURCE_DIR "/models/topologies/4xk80.json").value());
  REQUIRE(instance.problem);
  return instance;
}

void add_what_moves_start_from(const PlaceResult& placed, Workbench& bench) {
  for (const Candidate& candidate : placed.candidates) {
    if (candidate.method == "moves") break;
    bench.add(candidate);
  }
}

}  // namespace

TEST_CASE("a pass of promising moves makes nothing worse and obeys the rules, whatever they are") {
  Random random(171);
  int improved = 0, kept = 0;
  for (uint32_t rules = 0; rules < test::kRuleSets; ++rules) {
    for (int i = 0; i < 24; ++i) {
      const test::RandomShape shape{
          .most_nodes = 400, .whole_numbers = i % 2 == 0, .restrictions = i % 3 == 0};
      Rules caller;
      if (i % 4 == 3) caller.objective = Objective::kThroughput;
      const test::RandomMemory memory{50, i % 4 == 1 ? 6000u : 0u};
      const test::Instance instance = test::random_instance(shape, rules, random, memory, caller);
      if (!instance.problem) continue;
      CAPTURE(rules);
      CAPTURE(i);
      const Problem& problem = *instance.problem;
      const Hierarchy hierarchy(problem);
      MoveEvaluator evaluator(problem);
      Candidate best{"start", test::random_assignment(problem, random), {}};
      best.score = evaluator.rebase(best.assignment);
      const Score before = best.score;
      const Assignment start = best.assignment;
      make_promising_moves(hierarchy, evaluator, best);
      CHECK(best.score <= before);
      CHECK(obeys_rules(problem, best.assignment));
      Evaluator check(problem);
      CHECK(best.score == check.evaluate(best.assignment));
      improved += best.score < before;
      if (!problem.times_can_tell() || !before.feasible()) {
        CHECK(best.assignment == start);
        ++kept;
      }
    }
  }
  CHECK(improved > 30);
  CHECK(kept > 10);
}

TEST_CASE("it shortens what HEFT places, by a twelfth on average") {
  double logarithms = 0;
  constexpr int kGraphs = 12;
  for (int i = 0; i < kGraphs; ++i) {
    const test::Instance instance = on_four_k80s(i, 1);
    const MethodOptions options;
    Workbench bench(*instance.problem, options);
    Candidate best = heft_method().place(bench).value();
    const double before_us = best.score.objective_us;
    make_promising_moves(bench.hierarchy(), bench.move_evaluator(), best);
    logarithms += std::log(best.score.objective_us / before_us);
  }
  MESSAGE("mean ratio: ", std::exp(logarithms / kGraphs));
  CHECK(std::exp(logarithms / kGraphs) < 11.0 / 12);
}

TEST_CASE("auto moves groups from one device, too, where that takes little longer than the best") {
  int improved = 0, near = 0;
  for (int i = 0; i < 16; ++i) {
    const test::Instance instance = on_four_k80s(i, 20);
    const MethodOptions options;
    const PlaceResult placed = place_auto(*instance.problem, options).value();
    Workbench bench(*instance.problem, options);
    add_what_moves_start_from(placed, bench);
    const Candidate* const alone = bench.best_alone();
    REQUIRE(alone != nullptr);
    if (alone->score.objective_us > 1.3 * bench.best().score.objective_us) continue;
    ++near;
    Candidate moved = *alone;
    make_promising_moves(bench.hierarchy(), bench.move_evaluator(), moved);
    CHECK(placed.best.score <= moved.score);
    improved += moved.score < bench.best().score;
  }
  CHECK(near > 8);
  CHECK(improved > 4);
}

TEST_CASE("auto moves groups once more where that gained, which often gains again") {
  int improved = 0;
  for (int i = 0; i < 16; ++i) {
    const test::Instance instance = on_four_k80s(i, 1);
    const MethodOptions options;
    const PlaceResult placed = place_auto(*instance.problem, options).value();
    Workbench bench(*instance.problem, options);
    add_what_moves_start_from(placed, bench);
    Candidate once = bench.best();
    make_promising_moves(bench.hierarchy(), bench.move_evaluator(), once);
    if (once.score.objective_us >= 0.995 * bench.best().score.objective_us) continue;
    Candidate twice = once;
    make_promising_moves(bench.hierarchy(), bench.move_evaluator(), twice);
    if (!(twice.score < once.score)) continue;
    ++improved;
    CHECK(placed.best.score <= twice.score);
  }
  CHECK(improved > 4);
}

TEST_CASE("wherever it is stopped, a placement is whole and no worse") {
  Random random(173);
  int improved = 0, finished = 0;
  for (uint32_t rules = 0; rules < 8; ++rules) {  // nodes run in parallel
    for (int i = 0; i < 3; ++i) {
      const test::RandomShape shape{.most_nodes = 300, .restrictions = i == 1};
      const test::Instance instance =
          test::random_instance(shape, rules, random, {50, i == 2 ? 6000u : 0u});
      if (!instance.problem) continue;
      CAPTURE(rules);
      const Problem& problem = *instance.problem;
      const Hierarchy hierarchy(problem);
      Evaluator check(problem);
      Candidate start{"start", test::random_assignment(problem, random), {}};
      start.score = check.evaluate(start.assignment);
      bool rings = true;
      for (uint64_t at = 1; rings; at = at * 5 / 4 + 1) {
        Bell bell{at};
        Stop stop(&Bell::look, &bell, 20);
        MoveEvaluator evaluator(problem, &stop);
        Candidate best = start;
        make_promising_moves(hierarchy, evaluator, best);
        rings = bell.looks >= at;
        CHECK(best.score <= start.score);
        CHECK(obeys_rules(problem, best.assignment));
        CHECK(best.score == check.evaluate(best.assignment));
        improved += rings && best.score < start.score;
      }
      ++finished;
    }
  }
  CHECK(improved > 10);
  CHECK(finished > 15);
}

}  // namespace placeto
