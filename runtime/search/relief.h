// What is fast but does not fit is made to fit: groups leave the devices that hold too much, those
// first that take least time for the bytes that they free.
//
// Beside it, MakeRoom (make_room.h) mends single proposals of a search.
#pragma once

#include "runtime/cost/move_evaluator.h"
#include "runtime/groups/hierarchy.h"
#include "runtime/heuristics/method.h"

namespace placeto {

// Moves groups of `start` until it fits, or no move that was looked at lessens its overflow, or
// too many were, or about so many were simulated. `times` makes timelines. The evaluators' `stop`
// ends it.
void relieve(uint64_t simulations, const Hierarchy& hierarchy, MoveEvaluator& evaluator,
             Evaluator& times, Candidate& start);

}  // namespace placeto
