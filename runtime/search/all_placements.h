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

}  // namespace placeto
