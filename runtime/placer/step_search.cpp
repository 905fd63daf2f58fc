// Searches: of what a budget allows, and a brief one without.
#include "runtime/placer/step_functions.h"

#include <algorithm>

#include "runtime/search/search.h"
#include "runtime/search/stage_annealing.h"

namespace placeto {
namespace {

// On larger graphs a move of one part of a stage means too little: what gains 3% at 3,000 nodes
// gains nothing at 8,000 for twice the time.
bool anneals_stages(const Placing& placing) {
  constexpr uint32_t kMostGroups = 3'000;
  return is_staged(placing) && placing.bench.problem().group_count() <= kMostGroups;
}

}  // namespace

// A few evaluations of stages, then of moves from where those end: fewer on large graphs.
Status search_briefly(const Step& step, Placing& placing) {
  constexpr uint64_t kMost = 60, kLeast = 10, kWork = 500'000;
  Workbench& bench = placing.bench;
  const uint64_t evaluations = kWork / bench.problem().graph().size();
  if (evaluations < kLeast || !ready(bench)) return {};
  const Budget budget{.evaluations = std::min(evaluations, kMost)};
  const uint64_t seed = bench.options().seed;
  Candidate divided = bench.best();
  divided.method = step.name;
  anneal_stages(
      budget, seed, bench.evaluator(), [](Candidate&) {}, divided);
  Candidate found = divided;
  adaptive_search(bench.hierarchy(), budget, seed, bench.move_evaluator(), found);
  finish_part(0, bench, found);  // whatever the budget is: a search begins with what it makes
  if (stopped(bench.stop())) return {};
  bench.add_if_better(std::move(found.score < divided.score ? found : divided));
  return {};
}

Status search(const Step& step, Placing& placing) {
  Workbench& bench = placing.bench;
  const Candidate start = bench.best();
  placing.tell_finished(start);
  placing.guide.reset();  // which goes by the groups that there were
  bench.regroup();
  if (!ready(bench)) return {};
  placing.searched = true;
  Budget budget = bench.options().budget;
  // A polished placement is where moves no longer gain: there is less to find around it.
  Candidate found = placing.unpolished.assignment.empty() ? start : placing.unpolished;
  found.method = step.name;
  SearchOptions search_options{.polish = true, .progress = bench.options().progress};
  const bool staged = is_staged(placing);
  // Beside every polishing, so that more of it is never worse.
  const auto finish = [&](Candidate& candidate) {
    if (staged) finish_part(budget.evaluations, bench, candidate);
    placing.tell_finished(candidate);
  };
  // Of the time, half is for solving the problem, and half of what is left for stages.
  if (has_few_groups(placing)) budget.milliseconds /= 2;
  if (anneals_stages(placing)) budget.milliseconds /= 2;
  if (staged || placing.on_finished) search_options.finish = finish;
  if (!staged && !placing.unpolished.assignment.empty()) {
    search_options.polished = &placing.polished;
  }
  // A window is placed by when operators finish.
  auto* const improve = bench.problem().is_for_latency() ? adaptive_search : multilevel_search;
  improve(bench.hierarchy(), budget, bench.options().seed, bench.move_evaluator(), found,
          search_options);
  bench.add_if_better(std::move(found));
  if (anneals_stages(placing)) {
    // From where the other began, too, which no budget has a part in.
    Candidate divided = start;
    divided.method = step.name;
    anneal_stages(budget, bench.options().seed, bench.evaluator(), finish, divided);
    bench.add_if_better(std::move(divided));
  }
  return {};
}

}  // namespace placeto
