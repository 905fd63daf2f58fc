// Search with all means: rounds of multilevel search and of earliest-finish passes.
#pragma once

#include "runtime/heuristics/search.h"

namespace placeto {

// Improves `best` in place until the budget ends; never returns worse. The contract of
// multilevel_search; a pass counts as one evaluation, too.
void improve(const Problem& problem, const Hierarchy& hierarchy, const Budget& budget,
             uint64_t seed, MoveEvaluator& evaluator, Candidate& best,
             ProposalRanker* ranker = nullptr);

}  // namespace placeto
