// Getting under the memory limits.
#include "runtime/placer/step_functions.h"

#include <algorithm>
#include <vector>

#include "runtime/base/keep_least.h"
#include "runtime/heuristics/packing.h"
#include "runtime/heuristics/pipeline.h"
#include "runtime/search/frugal_order.h"
#include "runtime/search/promising_moves.h"
#include "runtime/search/relief.h"
#include "runtime/search/search.h"
#include "runtime/search/stage_search.h"

namespace placeto {
namespace {

// Evaluations spent on getting under the memory limits: fewer on large graphs, where each takes
// longer, so that an infeasible answer takes seconds and not minutes.
uint64_t repair_evaluations(const Graph& graph) {
  constexpr uint64_t kMost = 30'000, kLeast = 100, kWork = 30'000'000;
  return std::clamp(kWork / graph.size(), kLeast, kMost);
}

// Of relief at a time, beyond which hardly anything comes to fit: fewer where each takes longer.
uint64_t relief_simulations(const Graph& graph) {
  constexpr uint64_t kMost = 400, kLeast = 100, kWork = 800'000;
  return std::clamp(kWork / graph.size(), kLeast, kMost);
}

// Than anything that fits.
bool is_faster(const Candidate& candidate, const Workbench& bench) {
  const Score best = bench.best().score;
  return !best.feasible() || candidate.score.objective_us < best.objective_us;
}

// As `auto` places where memory has no limits; nothing where the problem takes long to copy.
Candidate place_unlimited(Workbench& bench) {
  if (!is_quickly_copied(bench.problem())) return {};
  const Problem unlimited = bench.problem().without_memory_limits();
  MethodOptions options = bench.options();
  options.budget = {};
  options.tolerance = 0;  // the simplest is chosen among all, at the end
  options.progress = nullptr;
  Placing there(unlimited, options, {});
  const PlaceOutcome placed = place_auto(there);
  if (!placed.ok() || stopped(bench.stop())) return {};
  Candidate best;  // divided by rule, for divisions are found last
  best.take(placed->best.assignment, bench.evaluator().evaluate(placed->best.assignment));
  return best;
}

// Moves of groups that make room, and among large groups those that promise most.
void improve(const Step& step, const Budget& budget, Placing& placing) {
  Workbench& bench = placing.bench;
  Candidate found = bench.best();
  found.method = step.name;
  if (is_large(placing)) {
    make_promising_moves(bench.hierarchy(), bench.move_evaluator(), found);
  }
  multilevel_search(bench.hierarchy(), budget, bench.options().seed, bench.move_evaluator(), found);
  bench.add_if_better(std::move(found));
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

// What still lacks a little then is searched from; where nothing fits, it is relieved further
// before that. Candidates of one score are mostly like devices alone: one of them speaks for all.
Status relieve_faster(const Step& step, Placing& placing) {
  constexpr uint64_t kMost = 1'000, kShare = 30;
  constexpr size_t kFew = 3;
  Workbench& bench = placing.bench;
  if (!ready(bench)) return {};
  bool any = false;                // did not fit
  std::vector<Candidate> lacking;  // those that lack least
  const uint64_t simulations = relief_simulations(bench.problem().graph());
  const auto relieve_for = [&](uint64_t most, Candidate& found) {
    relieve(most, bench.hierarchy(), bench.move_evaluator(), bench.evaluator(), found);
  };
  const auto relieve_one = [&](Candidate found) {
    if (found.assignment.empty() || !is_faster(found, bench) || stopped(bench.stop())) return;
    found.method = step.name;
    any |= !found.score.feasible();
    relieve_for(simulations, found);
    if (found.score.feasible()) return bench.add_if_better(std::move(found));
    keep_least(lacking, kFew, std::move(found), is_better);
  };
  relieve_one(place_unlimited(bench));
  std::vector<Score> tried;
  for (size_t i = 0, count = bench.candidates().size(); i < count; ++i) {
    const Candidate& candidate = bench.candidates()[i];
    if (std::ranges::find(tried, candidate.score) != tried.end()) continue;
    tried.push_back(candidate.score);
    relieve_one(candidate);
  }
  const uint64_t evaluations = repair_evaluations(bench.problem().graph()) / kShare;
  const Budget budget{.evaluations = std::min(evaluations, kMost)};
  for (Candidate& found : lacking) {
    if (stopped(bench.stop())) return {};
    if (!is_faster(found, bench)) continue;
    if (nothing_fits(placing)) relieve_for(2 * simulations, found);
    multilevel_search(bench.hierarchy(), budget, bench.options().seed, bench.move_evaluator(),
                      found);
    bench.add_if_better(std::move(found));
  }
  if (any && !stopped(bench.stop()) && !nothing_fits(placing)) improve(step, budget, placing);
  return {};
}

// A chain mostly lacks a little, for stages run at the same time.
Status form_chain(const Step& step, Placing& placing) {
  Workbench& bench = placing.bench;
  Candidate found = place_chain(bench.problem(), bench.evaluator());
  if (found.assignment.empty() || !is_faster(found, bench) || !ready(bench)) return {};
  if (!found.score.feasible()) {
    relieve(relief_simulations(bench.problem().graph()), bench.hierarchy(), bench.move_evaluator(),
            bench.evaluator(), found);
  }
  if (found.score.feasible()) move_from(std::move(found), step.name, placing);
  return {};
}

// By moves alone: passes have shown that they do not get there. One search finds what fits in 99 of
// 100 small problems whose limits a known placement just keeps; others, with other random numbers
// and every second from another candidate, in most of the rest.
Status repair(const Step& step, Placing& placing) {
  constexpr uint64_t kEach = 3'000, kStaged = 5;  // times as long an evaluation
  Workbench& bench = placing.bench;
  if (!ready(bench)) return {};
  uint64_t left = repair_evaluations(bench.problem().graph()) / (is_staged(placing) ? kStaged : 1);
  const size_t tried = bench.candidates().size();
  for (uint64_t i = 0; left > 0 && nothing_fits(placing); ++i) {
    Budget budget;
    budget.evaluations = std::min(left, kEach);
    left -= budget.evaluations;
    Candidate found = i % 2 == 0 ? bench.best() : bench.candidates()[tried - 1 - i / 2 % tried];
    found.method = step.name;
    multilevel_search(bench.hierarchy(), budget, bench.options().seed + i, bench.move_evaluator(),
                      found);
    bench.add_if_better(std::move(found));
    if (stopped(bench.stop())) break;
  }
  return {};
}

// Other orders of the nodes of devices that hold too much at a time, in fewer stages again. If
// those do not fit either, stages of a node each are better to go on from.
Status reorder(const Step& step, Placing& placing) {
  constexpr uint64_t kShare = 10;
  Workbench& bench = placing.bench;
  Evaluator& evaluator = bench.evaluator();
  Candidate found = bench.best();
  found.method = step.name;
  for (const Candidate& candidate : bench.candidates()) {
    Division division = frugal_order(bench.problem(), candidate.assignment, bench.stop());
    if (stopped(bench.stop())) return {};
    const Score score = evaluator.evaluate(candidate.assignment, division);
    if (stopped(bench.stop())) return {};
    if (score < found.score) found.take(candidate.assignment, score, std::move(division));
  }
  if (!(found.score < bench.best().score)) return {};
  const uint64_t evaluations = repair_evaluations(bench.problem().graph()) / kShare;
  Candidate gathered = found;
  gather_stages(evaluations, evaluator, gathered);
  if (!gathered.score.feasible()) refine_stages(evaluations, evaluator, found);
  bench.add_if_better(std::move(found.score < gathered.score ? found : gathered));
  return {};
}

}  // namespace placeto
