// Moves from the best so far, without a budget.
#include "runtime/placer/step_functions.h"

#include "runtime/search/polish.h"
#include "runtime/search/promising_moves.h"

namespace placeto {

bool ready(Workbench& bench) {
  bench.hierarchy();
  if (!stopped(bench.stop())) bench.move_evaluator();
  return !stopped(bench.stop());
}

std::vector<Candidate> starts(const Workbench& bench) {
  constexpr double kLittle = 1.3;
  const Candidate& best = bench.best();
  const Candidate* const alone = bench.best_alone();
  if (alone == nullptr || alone == &best ||
      alone->score.objective_us > kLittle * best.score.objective_us) {
    return {best};
  }
  return {best, *alone};
}

Status move_promising(const Step& step, Placing& placing) {
  Workbench& bench = placing.bench;
  if (!ready(bench)) return {};
  for (Candidate& found : starts(bench)) {
    found.method = step.name;
    make_promising_moves(bench.hierarchy(), bench.move_evaluator(), found);
    bench.add_if_better(std::move(found));
  }
  return {};
}

Status polish_best(const Step& step, Placing& placing) {
  Workbench& bench = placing.bench;
  if (!ready(bench)) return {};
  Candidate found = bench.best();
  found.method = step.name;
  placing.unpolished = found;
  placing.one_move_optimal = polish(&bench.hierarchy(), bench.move_evaluator(), found);
  placing.polished = {placing.unpolished.score, found, placing.one_move_optimal};
  bench.add_if_better(std::move(found));
  return {};
}

}  // namespace placeto
