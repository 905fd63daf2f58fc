// Division into stages, and pipelines.
#include "runtime/placer/step_functions.h"

#include <algorithm>

#include "runtime/heuristics/pipeline.h"
#include "runtime/search/all_placements.h"
#include "runtime/search/stage_search.h"

namespace placeto {
namespace {

// Evaluations of the finish: fewer on large graphs, where each takes longer.
uint64_t stage_evaluations(const Graph& graph) {
  constexpr uint64_t kMost = 300, kLeast = 20, kWork = 500'000;
  return std::clamp(kWork / graph.size(), kLeast, kMost);
}

// Stages, and what moves gain then, until neither has anything to gain; on large graphs moves are
// not looked at.
void finish_stages(uint64_t evaluations, bool looks_at_moves, Workbench& bench,
                   Candidate& candidate) {
  refine_stages(evaluations, bench.evaluator(), candidate);
  if (candidate.one_move_optimal || !looks_at_moves) return;
  while (make_better_move(bench.move_evaluator(), candidate)) {
    polish(nullptr, bench.move_evaluator(), candidate);
    refine_stages(evaluations, bench.evaluator(), candidate);
  }
  candidate.one_move_optimal = !stopped(bench.stop());
}

}  // namespace

Status form_pipeline(const Step&, Placing& placing) {
  Workbench& bench = placing.bench;
  Candidate found = place_pipeline(bench.problem(), bench.evaluator());
  if (!found.assignment.empty()) bench.add(std::move(found));
  return {};
}

Status split(const Step& step, Placing& placing) {
  Workbench& bench = placing.bench;
  Evaluator& evaluator = bench.evaluator();
  Candidate best;
  for (Assignment& assignment : contiguous_splits(bench.problem(), bench.stop())) {
    const Score score = evaluator.evaluate(assignment);
    if (stopped(bench.stop())) break;
    if (!best.assignment.empty() && !(score < best.score)) continue;
    best.method = step.name;
    best.assignment = std::move(assignment);
    best.score = score;
  }
  if (!best.assignment.empty()) bench.add(std::move(best));
  return {};
}

Status refine(const Step& step, Placing& placing) {
  Workbench& bench = placing.bench;
  if (!ready(bench)) return {};
  Candidate found = bench.best();
  found.method = step.name;
  finish_stages(stage_evaluations(bench.problem().graph()), always_polished(bench.problem()), bench,
                found);
  if (stopped(bench.stop())) return {};
  const bool fewer = found.score == bench.best().score &&
                     found.division.stage_count() < count_stages(bench.best(), bench.evaluator());
  if (fewer) {
    bench.add(std::move(found));
  } else {
    bench.add_if_better(std::move(found));
  }
  return {};
}

Status simplify(const Step& step, Placing& placing) {
  Workbench& bench = placing.bench;
  Evaluator& evaluator = bench.evaluator();
  const double limit_us = bench.tolerated_us();
  Candidate found = bench.best();
  found.method = step.name;
  const uint32_t stages = count_stages(found, evaluator);
  if (all_placements_pay(bench.problem())) find_fewest_stages(limit_us, evaluator, found);
  simplify_stages(stage_evaluations(bench.problem().graph()), limit_us, evaluator, found);
  if (found.division.stage_count() < stages && !stopped(bench.stop())) bench.add(std::move(found));
  return {};
}

// A share of what finishes the best, for each of the many that a search ends with.
void finish_part(uint64_t evaluations, Workbench& bench, Candidate& candidate) {
  constexpr uint64_t kShare = 3;
  const Problem& problem = bench.problem();
  finish_stages(stage_evaluations(problem.graph()) / kShare, polish_pays(problem, evaluations),
                bench, candidate);
}

}  // namespace placeto
