// Getting under the memory limits.
#include "runtime/placer/step_functions.h"

#include <algorithm>

#include "runtime/heuristics/packing.h"
#include "runtime/search/search.h"

namespace placeto {
namespace {

// Evaluations spent on getting under the memory limits: fewer on large graphs, where each takes
// longer, so that an infeasible answer takes seconds and not minutes.
uint64_t repair_evaluations(const Graph& graph) {
  constexpr uint64_t kMost = 30'000, kLeast = 100, kWork = 30'000'000;
  return std::clamp(kWork / (uint64_t{graph.node_count()} + graph.edge_count()), kLeast, kMost);
}

// By moves alone, from every placement of a heuristic that is faster than what fits, if anything
// does. One device alone is too far from fitting. Not on large graphs, whose evaluations are few.
void repair_each(const Step& step, Workbench& bench) {
  constexpr uint64_t kEach = 300, kShare = 10;
  if (repair_evaluations(bench.problem().graph()) < kShare * kEach) return;
  const Budget budget{.evaluations = kEach};
  for (size_t i = 0, count = bench.candidates().size(); i < count; ++i) {
    const Score best = bench.best().score;
    const Candidate& from = bench.candidates()[i];
    if (from.score.feasible() || only_device(from.assignment)) continue;
    if (best.feasible() && !(from.score.objective_us < best.objective_us)) continue;
    Candidate found{std::string(step.name), from.assignment, from.score};
    multilevel_search(bench.hierarchy(), budget, bench.options().seed, bench.move_evaluator(),
                      found);
    bench.add_if_better(std::move(found));
    if (stopped(bench.stop())) return;
  }
}

}  // namespace

// A packing that what is held at one time might still exceed; what lacks bytes, too, if fewer.
Status pack_groups(const Step& step, Placing& placing) {
  Workbench& bench = placing.bench;
  Packing packing = pack(bench.problem(), bench.stop());
  if (packing.assignment.empty()) return {};
  placing.packed = true;
  Candidate found{std::string(step.name), std::move(packing.assignment), {}};
  found.score = bench.evaluator().evaluate(found.assignment);
  if (stopped(bench.stop())) return {};
  if (packing.verdict == Packing::Verdict::kImpossible) {
    placing.proved = true;
    placing.missing_bytes = packing.missing_bytes;
  }
  bench.add_if_better(std::move(found));
  return {};
}

// By moves alone: passes have shown that they do not get there. One search finds what fits in 99 of
// 100 small problems whose limits a known placement just keeps; others, with other random numbers,
// in most of the rest.
Status repair(const Step& step, Placing& placing) {
  constexpr uint64_t kEach = 3'000;
  Workbench& bench = placing.bench;
  if (!ready(bench)) return {};
  repair_each(step, bench);
  uint64_t left = repair_evaluations(bench.problem().graph());
  for (uint64_t seed = bench.options().seed; left > 0 && nothing_fits(placing); ++seed) {
    Budget budget;
    budget.evaluations = std::min(left, kEach);
    left -= budget.evaluations;
    Candidate found = bench.best();
    found.method = step.name;
    multilevel_search(bench.hierarchy(), budget, seed, bench.move_evaluator(), found);
    bench.add_if_better(std::move(found));
    if (stopped(bench.stop())) break;
  }
  return {};
}

}  // namespace placeto
