// Simulated annealing over placements and their stages at once.
//
// A search over placements alone sees each of them divided by rule (stages.h), and what it ends
// with is divided better only in the end. Where starting a stage costs something, the best
// placement may be one that no rule divides well. Here a move changes both: a group, or all of a
// stage up to a node or from it on, goes to another stage or becomes one; a stage changes its
// device as a whole, or is merged with another.
#pragma once

#include <functional>

#include "runtime/cost/evaluator.h"
#include "runtime/heuristics/method.h"

namespace placeto {

// Improves `start` in place until the budget ends or the evaluator's stop says so; never returns
// worse. At 10, 20, 30, 50, 70, 100, ... evaluations, and where time is up, the best so far is
// finished, beside the search and uncounted; the best of what was finished is what it returns. So
// of two numbers of evaluations with one seed the larger one returns no worse.
void anneal_stages(const Budget& budget, uint64_t seed, Evaluator& evaluator,
                   const std::function<void(Candidate&)>& finish, Candidate& start);

}  // namespace placeto
