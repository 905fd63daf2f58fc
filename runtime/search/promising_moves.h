// One pass over all groups, the largest first: each that the makespan waits for goes where an
// estimate promises most. For graphs on which to simulate every move, as polishing does, would take
// too long.
#pragma once

#include "runtime/cost/move_evaluator.h"
#include "runtime/groups/hierarchy.h"
#include "runtime/heuristics/method.h"

namespace placeto {

// Improves `start` in place; never returns worse. Nothing where times do not tell what a move is
// worth (timeline/queues.h). The evaluator's `stop` ends it.
void make_promising_moves(const Hierarchy& hierarchy, MoveEvaluator& evaluator, Candidate& start);

}  // namespace placeto
