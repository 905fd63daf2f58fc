#include "runtime/placer/steps.h"

#include <algorithm>

#include "runtime/placer/methods.h"
#include "runtime/placer/step_functions.h"
#include "runtime/search/all_placements.h"
#include "runtime/search/division_search.h"
#include "runtime/search/exhaustive.h"
#include "runtime/search/polish.h"

namespace placeto {
namespace {

bool always(const Placing&) {
  return true;
}
bool is_staged_and_tolerant(const Placing& placing) {
  return is_staged(placing) && placing.bench.options().tolerance > 0;
}
bool needs_pipeline(const Placing& placing) {
  return !placing.bench.problem().is_for_latency() || placing.bench.best_alone() == nullptr;
}
bool is_pipeline(const Placing& placing) {
  return !placing.proved && !placing.bench.problem().is_for_latency();
}
bool is_parallel(const Placing& placing) {
  return !placing.proved && placing.bench.problem().times_can_tell();
}
bool may_fit(const Placing& placing) {
  return nothing_fits(placing) && !placing.proved;
}
bool is_staged_and_may_fit(const Placing& placing) {
  return is_staged(placing) && may_fit(placing);
}
// That a device alone is too small tells nothing where all fits that is faster.
bool lacks_memory(const Placing& placing) {
  const Score best = placing.bench.best().score;
  const auto lacks = [&](const Candidate& candidate) {
    const bool faster = candidate.score.objective_us < best.objective_us;
    return !candidate.score.feasible() && (faster || !only_device(candidate.assignment));
  };
  return !placing.proved &&
         (!best.feasible() || std::ranges::any_of(placing.bench.candidates(), lacks));
}
// One device would be faster than several, but is too small.
bool wants_one_device(const Placing& placing) {
  const Workbench& bench = placing.bench;
  const double best_us = nothing_fits(placing) ? kNever : bench.best().score.objective_us;
  const auto is_wanted = [&](const Candidate& candidate) {
    return !candidate.score.feasible() && candidate.score.objective_us < best_us &&
           only_device(candidate.assignment);
  };
  return is_parallel(placing) && std::ranges::any_of(bench.candidates(), is_wanted);
}
bool has_policy(const Placing& placing) {
  return !placing.proved && placing.options.policy != nullptr;
}
bool has_budget(const Placing& placing) {
  return !placing.proved && placing.bench.options().budget.limited();
}
bool is_small(const Placing& placing) {
  return !placing.proved && always_polished(placing.bench.problem());
}
// By passes: what leaps gain is polished already.
bool is_small_and_policy_gained(const Placing& placing) {
  const Candidate& best = placing.bench.best();
  return is_small(placing) && best.method == kPolicyAlone && !best.one_move_optimal;
}
// Where one device is by far the best, a few evaluations find nothing better.
bool is_large_and_divided(const Placing& placing) {
  constexpr double kNear = 1.3;
  const Workbench& bench = placing.bench;
  const double near_us = kNear * bench.best().score.objective_us;
  const auto divides = [&](const Candidate& candidate) {
    return candidate.score.feasible() && candidate.score.objective_us <= near_us &&
           !only_device(candidate.assignment);
  };
  return is_staged(placing) && !placing.proved && bench.problem().is_for_latency() &&
         !always_polished(bench.problem()) && std::ranges::any_of(bench.candidates(), divides);
}
// For budgets of evaluations alone, which can be spent on fewer devices once more.
constexpr uint32_t kMostGroupsOnFewer = 32;
bool is_small_search(const Placing& placing) {
  const Budget& budget = placing.bench.options().budget;
  return has_budget(placing) && budget.evaluations > 0 && budget.milliseconds == 0 &&
         placing.bench.problem().group_count() <= kMostGroupsOnFewer;
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

}  // namespace

bool is_large(const Placing& placing) {
  const Problem& problem = placing.bench.problem();
  return !placing.proved && problem.times_can_tell() && !always_polished(problem);
}
bool is_staged(const Placing& placing) {
  return placing.bench.problem().is_staged();
}
bool is_quickly_copied(const Problem& problem) {
  constexpr uint64_t kMost = 2'000'000;  // numbers
  const uint64_t row = problem.class_count() + problem.device_count() / 64;
  return problem.node_count() * row + problem.graph().edge_count() <= kMost;
}
bool nothing_fits(const Placing& placing) {
  return !placing.bench.best().score.feasible();
}
// If it is proved that nothing fits, what comes closest is still to be found.
bool has_few_groups(const Placing& placing) {
  return (!placing.proved || nothing_fits(placing)) && exact_applies(placing.bench.problem());
}

// In words, the table has these numbers.
static_assert(kMostPlacements == 4'096 && kMostExactGroups == 24 && kMostSolvedGroups == 12 &&
              kMostGroupsOnFewer == 32 && kMostDividedNodes == 64);

std::vector<Step> auto_steps() {
  std::vector<Step> steps;
  for (const Method* method : builtin_methods()) {
    if (!method->in_auto()) continue;
    steps.push_back(
        {method->name(), method->summary(), kAlways, always, run_heuristic, false, method});
  }
  steps.insert(
      steps.end(),
      {{kAfterHeuristics, "consecutive stages, the busiest as little as can be",
        "for throughput, or where no device holds all", needs_pipeline, form_pipeline},
       {"split", "consecutive stages of the topological order, by price", "under staged execution",
        is_staged, split},
       {"packing", "a packing of weights into memory", "where nothing fits", nothing_fits,
        pack_groups},
       {"moves", "groups of all sizes moved to where it promises most",
        "from some hundred operators on, for latency", is_large, move_promising},
       {"relief", "groups moved off full devices, from what is faster than all that fits",
        "where memory lacks for what is faster, or on several devices", lacks_memory,
        relieve_faster},
       {"chain", "stages of what exchanges much, with as little to wait for as can be",
        "for latency, unless staged, where one device would be faster if it held all",
        wants_one_device, form_chain},
       {"repair", "moves of groups, towards less overflow of memory",
        "where no heuristic's placement fits", may_fit, repair},
       {"orders", "stages of one node each, always the one that leaves least held",
        "under staged execution, where nothing fits", is_staged_and_may_fit, reorder},
       {"borders", "borders between stages shifted, from the best three so far",
        "for throughput, up to some ten thousand operators", is_pipeline, shift_borders},
       {"all", "all placements, divided into stages by rule",
        "under staged execution, up to 4,096 placements", has_few_placements, try_all},
       {"polish", "moves of single groups, while one gains", "up to some hundred operators",
        is_small, polish_best},
       {"near", "the heuristics on devices near each other, and moves from there",
        "for latency, unless staged, on up to 64 devices where some links are slower by half",
        is_parallel, place_near},
       {kPolicyAlone, "the policy's leaps and passes, from the best so far or one device",
        "with a policy", has_policy, place_by_policy},
       {"repolish", "moves of single groups, while one gains, from where the passes ended",
        "where these gained, up to some hundred operators", is_small_and_policy_gained,
        polish_best},
       {"stages", "stages moved, merged, divided and reordered, from the best so far",
        "under staged execution", is_staged, refine},
       {"brief", "a search of some dozen evaluations, from the best so far",
        "under staged execution, from some hundred operators on, where more than one device pays",
        is_large_and_divided, search_briefly},
       {"exact", "all placements, by branch and bound",
        "up to 24 groups, from 13 on briefly if something fits; for latency under staged "
        "execution, of up to 64 operators",
        has_few_groups, solve_small},
       {"search", "annealing over moves and windows, and over stages, from the best so far",
        "with a budget", has_budget, search, true},
       {"proof", "all placements, by branch and bound", "up to 24 groups, with a budget",
        has_few_groups_and_budget, prove, true},
       {"fewer", "all of this on fewer of the like devices, and what more of them gain",
        "up to 32 groups, with a number of evaluations", is_small_search, place_on_fewer, true},
       {"fewest", "stages merged, as far as the tolerance goes",
        "under staged execution, with a tolerance", is_staged_and_tolerant, simplify}});
  return steps;
}

}  // namespace placeto
