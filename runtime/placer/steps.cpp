#include "runtime/placer/steps.h"

#include <algorithm>

#include "runtime/base/random.h"
#include "runtime/heuristics/heuristics.h"
#include "runtime/heuristics/packing.h"
#include "runtime/heuristics/pipeline.h"
#include "runtime/placer/fewer_devices.h"
#include "runtime/search/all_placements.h"
#include "runtime/search/exhaustive.h"
#include "runtime/search/polish.h"
#include "runtime/search/promising_moves.h"
#include "runtime/search/search.h"
#include "runtime/search/stage_annealing.h"
#include "runtime/search/stage_search.h"
#include "runtime/timeline/queues.h"

namespace placeto {
namespace {

bool always(const Placing&) {
  return true;
}
bool is_for_latency(const Placing& placing) {
  return placing.bench.problem().objective() == Objective::kLatency;
}
bool is_for_throughput(const Placing& placing) {
  return !is_for_latency(placing);
}
bool is_staged(const Placing& placing) {
  return placing.bench.problem().is_staged();
}
bool is_staged_and_tolerant(const Placing& placing) {
  return is_staged(placing) && placing.bench.options().tolerance > 0;
}
bool nothing_fits(const Placing& placing) {
  return !placing.bench.best().score.feasible();
}
bool needs_pipeline(const Placing& placing) {
  return is_for_throughput(placing) || placing.bench.best_alone() == nullptr;
}
bool may_fit(const Placing& placing) {
  return nothing_fits(placing) && !placing.proved;
}
bool has_policy(const Placing& placing) {
  return !placing.proved && placing.options.policy != nullptr;
}
bool has_budget(const Placing& placing) {
  return !placing.proved && placing.bench.options().budget.limited();
}
bool is_small(const Placing& placing) {
  return !placing.proved && polish_pays(placing.bench.problem(), 0);
}
bool is_large(const Placing& placing) {
  const Problem& problem = placing.bench.problem();
  return !placing.proved && times_can_tell(problem) && !polish_pays(problem, 0);
}
// For budgets of evaluations alone, which can be spent on fewer devices once more.
bool is_small_search(const Placing& placing) {
  constexpr uint32_t kMostGroups = 32;
  const Budget& budget = placing.bench.options().budget;
  return has_budget(placing) && budget.evaluations > 0 && budget.milliseconds == 0 &&
         placing.bench.problem().group_count() <= kMostGroups;
}
// On larger graphs a move of one part of a stage means too little: what gains 3% at 3,000 nodes
// gains nothing at 8,000 for twice the time.
bool anneals_stages(const Placing& placing) {
  constexpr uint32_t kMostGroups = 3'000;
  return is_staged(placing) && placing.bench.problem().group_count() <= kMostGroups;
}
// If it is proved that nothing fits, what comes closest is still to be found.
bool has_few_groups(const Placing& placing) {
  return (!placing.proved || nothing_fits(placing)) && exact_applies(placing.bench.problem());
}
bool has_few_groups_and_budget(const Placing& placing) {
  return has_few_groups(placing) && has_budget(placing);
}
bool has_few_placements(const Placing& placing) {
  return is_staged(placing) && !placing.proved && all_placements_pay(placing.bench.problem());
}

Status run_heuristic(const Step& step, Placing& placing) {
  const Status added = step.method->add_to(placing.bench);
  return added.code() == StatusCode::kStopped ? Status() : added;
}

// Evaluations spent on getting under the memory limits: fewer on large graphs, where each takes
// longer, so that an infeasible answer takes seconds and not minutes.
uint64_t repair_evaluations(const Graph& graph) {
  constexpr uint64_t kMost = 30'000, kLeast = 100, kWork = 30'000'000;
  return std::clamp(kWork / (uint64_t{graph.node_count()} + graph.edge_count()), kLeast, kMost);
}

// What the steps after the heuristics need; false if there is no time left to make it.
bool ready(Workbench& bench) {
  bench.hierarchy();
  if (!stopped(bench.stop())) bench.move_evaluator();
  return !stopped(bench.stop());
}

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

// Where moves begin: with the best and, if that takes little longer, with one device. Where
// transfers take long, what list schedules scatter is not easily gathered, but what gains by
// leaving a device is found.
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

Status place_by_policy(const Step&, Placing& placing) {
  if (!ready(placing.bench)) return {};
  if (Status s = make_guide(placing); !s.ok()) {
    placing.note = s.message();
    return {};
  }
  placing.bench.add(guided_candidate(placing));
  return {};
}

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

// Evaluations of the finish: fewer on large graphs, where each takes longer.
uint64_t stage_evaluations(const Graph& graph) {
  constexpr uint64_t kMost = 300, kLeast = 20, kWork = 500'000;
  return std::clamp(kWork / (uint64_t{graph.node_count()} + graph.edge_count()), kLeast, kMost);
}

// Stages, and what moves gain then, until neither has anything to gain. `optimal`: moves had not,
// before. Whether they have not now; on large graphs they are not looked at.
bool finish_stages(uint64_t evaluations, bool looks_at_moves, bool optimal, Workbench& bench,
                   Candidate& candidate) {
  const Assignment before = candidate.assignment;
  refine_stages(evaluations, bench.evaluator(), candidate);
  if (candidate.assignment == before && optimal) return true;
  if (!looks_at_moves) return false;
  while (make_better_move(bench.move_evaluator(), candidate)) {
    polish(nullptr, bench.move_evaluator(), candidate);
    refine_stages(evaluations, bench.evaluator(), candidate);
  }
  return !stopped(bench.stop());
}

Status refine(const Step& step, Placing& placing) {
  Workbench& bench = placing.bench;
  if (!ready(bench)) return {};
  Candidate found = bench.best();
  found.method = step.name;
  const bool optimal =
      finish_stages(stage_evaluations(bench.problem().graph()), polish_pays(bench.problem(), 0),
                    placing.one_move_optimal, bench, found);
  if (stopped(bench.stop())) return {};
  placing.one_move_optimal = optimal;
  const Score before = bench.best().score;
  const bool fewer = found.score == before &&
                     found.division.stage_count() < count_stages(bench.best(), bench.evaluator());
  if (found.score < before || fewer) bench.add(std::move(found));
  return {};
}

Status simplify(const Step& step, Placing& placing) {
  Workbench& bench = placing.bench;
  Candidate found = bench.best();
  found.method = step.name;
  const double limit_us = bench.tolerated_us();
  const uint32_t stages = count_stages(found, bench.evaluator());
  simplify_stages(stage_evaluations(bench.problem().graph()), limit_us, bench.evaluator(), found);
  if (found.division.stage_count() < stages && !stopped(bench.stop())) bench.add(std::move(found));
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

// A share of what finishes the best, for each of the many that a search ends with.
bool finish_part(Workbench& bench, bool optimal, Candidate& candidate) {
  constexpr uint64_t kShare = 3;
  const Problem& problem = bench.problem();
  return finish_stages(stage_evaluations(problem.graph()) / kShare,
                       polish_pays(problem, bench.options().budget.evaluations), optimal, bench,
                       candidate);
}

void tell_finished(const Candidate& candidate, const Placing& placing) {
  if (placing.options.on_finished) placing.options.on_finished(candidate);
}

// Keeps the better one of two answers of a search, and whether it is one-move-optimal.
void take_if_better(Candidate found, bool optimal, Placing& placing) {
  Workbench& bench = placing.bench;
  if (found.score < bench.best().score) {
    placing.one_move_optimal = optimal;
  } else if (found.assignment == bench.best().assignment) {
    placing.one_move_optimal |= optimal;
  }
  bench.add_if_better(std::move(found));
}

Status search(const Step& step, Placing& placing) {
  Workbench& bench = placing.bench;
  const Candidate start = bench.best();
  tell_finished(start, placing);
  placing.guide.reset();  // which goes by the groups that there were
  bench.regroup();
  if (!ready(bench)) return {};
  Budget budget = bench.options().budget;
  // A polished placement is where moves no longer gain: there is less to find around it.
  Candidate found = placing.unpolished.assignment.empty() ? start : placing.unpolished;
  found.method = step.name;
  found.division = {};  // of where it starts, not of where it will end
  SearchOptions search_options{.polish = true};
  const bool staged = is_staged(placing);
  // Beside every polishing, so that more of it is never worse.
  const auto finish = [&](Candidate& candidate, bool optimal) {
    const bool is_optimal = staged ? finish_part(bench, optimal, candidate) : optimal;
    tell_finished(candidate, placing);
    return is_optimal;
  };
  // The other half is for stages, or for solving the problem.
  if (anneals_stages(placing) || has_few_groups(placing)) budget.milliseconds /= 2;
  if (staged || placing.options.on_finished) search_options.finish = finish;
  if (!staged && !placing.unpolished.assignment.empty()) {
    search_options.polished = &placing.polished;
  }
  // A window is placed by when operators finish.
  auto* const improve = is_for_latency(placing) ? adaptive_search : multilevel_search;
  const bool polished = improve(bench.hierarchy(), budget, bench.options().seed,
                                bench.move_evaluator(), found, search_options);
  take_if_better(std::move(found), polished, placing);
  if (anneals_stages(placing)) {
    // From where the other began, too, which no budget has a part in.
    Candidate divided = start;
    divided.method = step.name;
    const bool optimal = anneal_stages(
        budget, bench.options().seed, bench.evaluator(),
        [&](Candidate& candidate) { return finish(candidate, false); }, divided);
    take_if_better(std::move(divided), optimal, placing);
  }
  return {};
}

// The sets whose devices are searched with fewer of them: all from `first_set` on if their numbers
// have few combinations, each of which is come to once, else the largest.
std::vector<size_t> sets_to_lessen(const std::vector<std::vector<uint32_t>>& sets,
                                   size_t first_set) {
  constexpr uint64_t kMostCombinations = 16;
  uint64_t combinations = 1;
  std::vector<size_t> lessened;
  size_t largest = 0;
  for (size_t k = 0; k < sets.size(); ++k) {
    if (sets[k].size() > sets[largest].size()) largest = k;
    if (sets[k].size() < 2) continue;
    combinations *= sizes_searched(static_cast<uint32_t>(sets[k].size()));
    if (k >= first_set) lessened.push_back(k);
    if (combinations > kMostCombinations) return {largest};
  }
  return lessened;
}

// All that is finished with fewer devices is finished here once more, which has more of them to
// move to. As more of it never changes what came before, more budget is never worse.
Status place_on_fewer(const Step& step, Placing& placing) {
  Workbench& bench = placing.bench;
  if (!ready(bench)) return {};
  const auto sets = like_devices(bench.problem());
  for (const size_t k : sets_to_lessen(sets, placing.options.first_set)) {
    const auto fewer = FewerDevices::of(bench.problem(), sets[k], bench.stop());
    if (fewer == nullptr) return {};
    PlacerOptions options{.policy = placing.options.policy, .kernels = placing.options.kernels};
    options.first_set = static_cast<uint32_t>(k);
    options.on_finished = [&](const Candidate& there) {
      Candidate found = fewer->among_all(there);
      found.method = step.name;
      found.score = bench.evaluator().evaluate(found.assignment, found.division);
      const bool optimal = is_staged(placing)
                               ? finish_part(bench, false, found)
                               : polish(&bench.hierarchy(), bench.move_evaluator(), found);
      if (stopped(bench.stop())) return;
      tell_finished(found, placing);
      take_if_better(std::move(found), optimal, placing);
    };
    if (const auto placed = place_auto(fewer->problem(), bench.options(), options); placed.ok()) {
      if (placed->proved) options.on_finished(placed->best);
    }
    if (stopped(bench.stop())) return {};
  }
  return {};
}

Status try_all(const Step& step, Placing& placing) {
  Workbench& bench = placing.bench;
  Candidate found = bench.best();
  found.method = step.name;
  try_all_placements(bench.evaluator(), found);
  bench.add_if_better(std::move(found));
  return {};
}

// All placements of a small problem. Of a search that ends too early only that something fits
// counts: what else it finds would depend on where it began.
void solve(const Step& step, uint64_t branches, Placing& placing) {
  Workbench& bench = placing.bench;
  Candidate found = bench.best();
  found.method = step.name;
  const double milliseconds = bench.options().budget.milliseconds;
  Stop stop = bench.stop() == nullptr ? Stop() : *bench.stop();
  if (milliseconds > 0) stop = stop.sooner(milliseconds / 4);  // before a search, and after
  if (exhaustive_search(bench.problem(), branches, &stop, found)) {
    placing.proved = true;
  } else {
    if (bench.stop() != nullptr) bench.stop()->requested();  // what ended the copy may end all
    if (!nothing_fits(placing) || !found.score.feasible()) return;
    if (!ready(bench)) return;
    // What was polished until now did not fit, and is nothing to go on from.
    placing.unpolished = {};
    placing.one_move_optimal = polish(&bench.hierarchy(), bench.move_evaluator(), found);
  }
  bench.add_if_better(std::move(found));
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

}  // namespace

Status make_guide(Placing& placing) {
  Result<std::unique_ptr<PolicyGuide>> guide =
      make_policy_guide(*placing.options.policy, placing.bench, placing.options.kernels);
  if (guide.ok()) placing.guide = std::move(*guide);
  return guide.status();
}

Candidate guided_candidate(Placing& placing) {
  Workbench& bench = placing.bench;
  uint32_t sample = 0;
  PolicyPasses passes;
  if (PolicyObserver* const observer = placing.options.observer; observer != nullptr) {
    passes.on_step = [observer, &sample](const PolicyStep& step) { observer->see(sample, step); };
  }
  Candidate best;
  for (const Candidate& start : starts(bench)) {
    Candidate placed = placing.guide->place(start, passes, bench.move_evaluator());
    if (best.assignment.empty() || placed.score < best.score) best = std::move(placed);
  }
  Random seeds(bench.options().seed);
  while (sample < bench.options().samples && !stopped(bench.stop())) {
    ++sample;
    passes.seed = seeds.next();
    Candidate drawn = placing.guide->place(bench.best(), passes, bench.move_evaluator());
    if (drawn.score < best.score) best = std::move(drawn);
  }
  return best;
}

std::vector<Step> auto_steps() {
  std::vector<Step> steps;
  for (const Method* method : builtin_methods()) {
    if (!method->in_auto()) continue;
    steps.push_back({method->name(), method->summary(), kAlways, always, run_heuristic, method});
  }
  steps.insert(
      steps.end(),
      {{"pipeline", "consecutive stages, the busiest as little as can be",
        "for throughput, or where no device holds all", needs_pipeline, form_pipeline},
       {"split", "consecutive stages of the topological order, by price", "under staged execution",
        is_staged, split},
       {"packing", "a packing of weights into memory", "where nothing fits", nothing_fits,
        pack_groups},
       {"repair", "moves of groups, towards less overflow of memory", "where nothing fits", may_fit,
        repair},
       {"moves", "groups of all sizes moved to where it promises most",
        "from some hundred operators on, for latency", is_large, move_promising},
       {kPolicyAlone, "the policy's passes, from the best so far or one device", "with a policy",
        has_policy, place_by_policy},
       {"all", "all placements, divided into stages by rule",
        "under staged execution, up to 4,096 placements", has_few_placements, try_all},
       {"polish", "moves of single groups, while one gains", "up to some hundred operators",
        is_small, polish_best},
       {"exact", "all placements, by branch and bound",
        "up to 24 groups, from 13 on briefly if something fits", has_few_groups, solve_small},
       {"stages", "stages moved, merged, divided and reordered, from the best so far",
        "under staged execution", is_staged, refine},
       {"search", "annealing over moves and windows, and over stages, from the best so far",
        "with a budget", has_budget, search},
       {"proof", "all placements, by branch and bound", "up to 24 groups, with a budget",
        has_few_groups_and_budget, prove},
       {"fewer", "all of this on fewer of the like devices, and what more of them gain",
        "up to 32 groups, with a number of evaluations", is_small_search, place_on_fewer},
       {"fewest", "stages merged, as far as the tolerance goes",
        "under staged execution, with a tolerance", is_staged_and_tolerant, simplify}});
  return steps;
}

}  // namespace placeto
