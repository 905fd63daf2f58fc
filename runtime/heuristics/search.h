// Multilevel local search: simulated annealing whose moves are groups of all sizes, large first.
//
// A one-node move is hopeless where a better placement moves a whole cluster: every step on the way
// cuts heavy edges and looks worse. So a move takes a group of some level of the hierarchy to a
// device, and the level drifts from coarse to fine as the budget is used up.
#pragma once

#include "runtime/cost/move_evaluator.h"
#include "runtime/heuristics/hierarchy.h"
#include "runtime/heuristics/method.h"

namespace placeto {

// Says which of several proposals to evaluate: the policy's part in a search.
class ProposalRanker {
 public:
  // The base placement has changed.
  virtual void refresh(const MoveEvaluator& evaluator) = 0;
  // Larger is more promising.
  virtual float score(uint32_t level, uint32_t group, uint32_t device) = 0;

 protected:
  ~ProposalRanker() = default;
};

// Improves `start` in place until the budget ends; never returns worse. Deterministic by seed if
// the budget counts evaluations. The placement that is searched from counts as one evaluation.
// With a ranker, each move is the best ranked of a few random proposals. The evaluator's `stop`
// ends it, too.
void multilevel_search(const Problem& problem, const Hierarchy& hierarchy, const Budget& budget,
                       uint64_t seed, MoveEvaluator& evaluator, Candidate& start,
                       ProposalRanker* ranker = nullptr);

}  // namespace placeto
