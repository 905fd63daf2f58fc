// Moves of single groups, while one of them makes a placement better, as every placement ends. What
// is left is one-move-optimal: no group of the problem does better on another device, nor does a
// larger group of the hierarchy's coarse levels.
#pragma once

#include "runtime/cost/move_evaluator.h"
#include "runtime/groups/hierarchy.h"
#include "runtime/heuristics/method.h"

namespace placeto {

// Small problems, of which every placement is polished: a round of it, all moves by the nodes that
// each simulates, takes some milliseconds at most.
bool always_polished(const Problem& problem);
// The others, if they were searched with so many evaluations that a round takes no longer.
uint64_t evaluations_to_polish(const Problem& problem);
bool polish_pays(const Problem& problem, uint64_t evaluations);

// What polishing a placement gave.
struct Polished {
  Score before = Score::worst();
  Candidate after{{}, {}, Score::worst()};
};

// Improves `start` in place; never returns worse. Divided by rule, it is one-move-optimal
// then, unless stopped before. With a hierarchy, groups of its coarse levels move, too.
void polish(const Hierarchy* hierarchy, MoveEvaluator& evaluator, Candidate& start);

// Makes a move of one group if one is better than the candidate, whose own division into stages may
// have made it better than its placement alone. False if none is, or stopped.
bool make_better_move(MoveEvaluator& evaluator, Candidate& candidate);

}  // namespace placeto
