// Moves from the best so far, or the best few, without a budget.
#include "runtime/placer/step_functions.h"

#include <algorithm>

#include "runtime/search/polish.h"
#include "runtime/search/promising_moves.h"
#include "runtime/search/search.h"

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

void move_from(Candidate start, std::string_view name, Placing& placing) {
  Workbench& bench = placing.bench;
  start.method = name;
  if (is_large(placing)) make_promising_moves(bench.hierarchy(), bench.move_evaluator(), start);
  if (!always_polished(bench.problem())) return bench.add_if_better(std::move(start));
  Candidate polished = start;
  polish(&bench.hierarchy(), bench.move_evaluator(), polished);
  const Candidate& best = bench.best();
  const bool is_best = start.assignment == best.assignment && !best.one_move_optimal;
  if (is_best || polished.score < best.score) {
    placing.unpolished = std::move(start);
    placing.polished = {placing.unpolished.score, polished};
  }
  bench.add_if_better(std::move(polished));
}

// A pass sees the run that the one before it left: if that gained, another gains, too.
Status move_promising(const Step& step, Placing& placing) {
  constexpr double kGained = 0.995;
  Workbench& bench = placing.bench;
  if (!ready(bench)) return {};
  const double before_us = bench.best().score.objective_us;
  for (Candidate& start : starts(bench)) move_from(std::move(start), step.name, placing);
  if (bench.best().score.objective_us < kGained * before_us) {
    move_from(bench.best(), step.name, placing);
  }
  return {};
}

namespace {

// The best few that are not alike.
std::vector<Candidate> best_of(const std::vector<Candidate>& candidates) {
  constexpr size_t kFew = 3;
  std::vector<const Candidate*> by_score;
  for (const Candidate& candidate : candidates) by_score.push_back(&candidate);
  std::ranges::stable_sort(by_score, {}, [](const Candidate* c) { return c->score; });
  std::vector<Candidate> best;
  for (const Candidate* const candidate : by_score) {
    if (best.size() == kFew) break;
    if (best.empty() || best.back().assignment != candidate->assignment) best.push_back(*candidate);
  }
  return best;
}

}  // namespace

// As many evaluations as are worth it on a small graph, fewer where each takes longer, and none
// where few can be made.
Status shift_borders(const Step& step, Placing& placing) {
  constexpr uint64_t kMost = 1'000, kLeast = 30, kWork = 1'000'000, kStaged = 10;
  Workbench& bench = placing.bench;
  const Graph& graph = bench.problem().graph();
  const uint64_t work = kWork / (is_staged(placing) ? kStaged : 1);
  const uint64_t most = work / graph.size();
  if (most < kLeast || !ready(bench)) return {};
  const Budget budget{.evaluations = std::min(most, kMost)};
  for (Candidate& found : best_of(bench.candidates())) {
    found.method = step.name;
    multilevel_search(bench.hierarchy(), budget, bench.options().seed, bench.move_evaluator(),
                      found);
    bench.add_if_better(std::move(found));
  }
  return {};
}

Status polish_best(const Step& step, Placing& placing) {
  if (ready(placing.bench)) move_from(placing.bench.best(), step.name, placing);
  return {};
}

}  // namespace placeto
