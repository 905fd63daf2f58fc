// Local search: simulated annealing over two kinds of proposals, moves of groups and passes over
// windows of the timeline, and how much of each is decided by what they have gained lately.
//
// Adaptive large neighbourhood search: Ropke and Pisinger, "An adaptive large neighborhood search
// heuristic for the pickup and delivery problem with time windows", Transportation Science 2006.
#pragma once

#include "runtime/heuristics/method.h"
#include "runtime/search/group_moves.h"

namespace placeto {

// Improves `start` in place until the budget ends; never returns worse. Deterministic by seed if
// the budget counts evaluations. The placement that is searched from counts as one evaluation, and
// so does every proposal that is simulated; windows that change or promise nothing count as the
// part of the graph that they placed. With a ranker, each move is the best ranked of a few random
// ones. The evaluator's `stop` ends it, too.
void adaptive_search(const Hierarchy& hierarchy, const Budget& budget, uint64_t seed,
                     MoveEvaluator& evaluator, Candidate& start, ProposalRanker* ranker = nullptr);

// The same with moves of groups alone, hotter: slower to improve, but it needs no rule by which a
// node is placed.
void multilevel_search(const Hierarchy& hierarchy, const Budget& budget, uint64_t seed,
                       MoveEvaluator& evaluator, Candidate& start,
                       ProposalRanker* ranker = nullptr);

// The same with passes over windows alone: what a few evaluations are best spent on.
void window_search(const Budget& budget, uint64_t seed, MoveEvaluator& evaluator, Candidate& start);

}  // namespace placeto
