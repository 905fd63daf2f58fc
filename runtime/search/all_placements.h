// Staged problems so small that every placement is tried. Each has many divisions, and devices may
// take their stages in many orders, so this is no proof.
#pragma once

#include "runtime/cost/evaluator.h"
#include "runtime/heuristics/method.h"

namespace placeto {

inline constexpr uint64_t kMostPlacements = 4'096;

// Whether the rules leave so few placements that all are tried, whatever the budget.
bool all_placements_pay(const Problem& problem);

// Each of them, divided by the best rule; on very small graphs the best of them are refined, too
// (stage_search.h). The best of all, or of those tried before a stop, if better than what it starts
// from.
void try_all_placements(Evaluator& evaluator, Candidate& best);

// Of those whose objective is `limit_us` at most, the one with the fewest stages, divided by the
// best rule; among equals the better. Nothing if none has fewer stages than what it starts from,
// or as many and is better.
void find_fewest_stages(double limit_us, Evaluator& evaluator, Candidate& best);

}  // namespace placeto
