// All placements of small problems.
#include "runtime/placer/step_functions.h"

#include <algorithm>

#include "runtime/search/all_placements.h"
#include "runtime/search/exhaustive.h"

namespace placeto {
namespace {

// Under staged execution a search for throughput leaves divisions out, one for latency none, and
// what fits does not depend on the objective. True if nothing does; then `found` comes closest.
bool fits_never(Workbench& bench, uint64_t branches, Stop* stop, Candidate& found) {
  if (!bench.problem().is_staged() || bench.problem().is_for_latency()) return false;
  const Problem latency = bench.problem().for_latency();
  if (!exact_applies(latency)) return false;
  found.score = Evaluator(latency, stop).evaluate(found.assignment, found.division);
  const bool solved = exhaustive_search(latency, branches, stop, found);
  found.score = bench.evaluator().evaluate(found.assignment, found.division);
  return solved && !found.score.feasible();
}

// Down to where no move of a group helps. A division into stages may be better than any that rules
// make, and moves are priced by rule: what comes after the first one is looked at again.
void descend(Workbench& bench, Candidate& candidate) {
  MoveEvaluator& evaluator = bench.move_evaluator();
  polish(&bench.hierarchy(), evaluator, candidate);
  if (candidate.division.empty()) return;
  while (make_better_move(evaluator, candidate)) polish(nullptr, evaluator, candidate);
  candidate.one_move_optimal = !stopped(bench.stop());
}

// All placements of a small problem, so the best is proved. If the search ends before it is through
// them, what it found depends on where it began and more budget could give worse: it is dropped,
// unless nothing fitted until now.
void solve(const Step& step, uint64_t branches, Placing& placing) {
  Workbench& bench = placing.bench;
  Candidate found = bench.best();
  found.method = step.name;
  const double milliseconds = bench.options().budget.milliseconds;
  Stop stop = bench.stop() == nullptr ? Stop() : *bench.stop();
  if (milliseconds > 0) stop = stop.sooner(milliseconds / 4);  // before a search, and after
  bool solved = exhaustive_search(bench.problem(), branches, &stop, found);
  if (!solved && nothing_fits(placing) && !found.score.feasible()) {
    solved = fits_never(bench, branches, &stop, found);
  }
  if (solved) {
    placing.proved = true;
  } else {
    if (bench.stop() != nullptr) bench.stop()->requested();  // what ended the copy may end all
    if (!nothing_fits(placing) || !found.score.feasible()) return;
    if (!ready(bench)) return;
    // What was polished until now did not fit, and is nothing to go on from.
    placing.unpolished = {};
    descend(bench, found);
  }
  bench.add_if_better(std::move(found));
}

}  // namespace

Status try_all(const Step& step, Placing& placing) {
  Workbench& bench = placing.bench;
  Candidate found = bench.best();
  found.method = step.name;
  try_all_placements(bench.evaluator(), found);
  bench.add_if_better(std::move(found));
  return {};
}

Status solve_small(const Step& step, Placing& placing) {
  constexpr uint64_t kForMessage = 100'000;  // what comes closest is only talked about
  const Problem& problem = placing.bench.problem();
  uint64_t branches = exact_branches(problem);
  if (placing.proved) {
    branches = std::min(branches, kForMessage);
  } else if (nothing_fits(placing)) {
    branches = most_branches(problem);
  }
  solve(step, branches, placing);
  return {};
}
// About as long as the search took.
Status prove(const Step& step, Placing& placing) {
  const uint64_t most = most_branches(placing.bench.problem());
  const uint64_t evaluations = placing.bench.options().budget.evaluations;
  solve(step, evaluations == 0 ? most : std::min(evaluations, most), placing);
  return {};
}

}  // namespace placeto
