// Local search: simulated annealing over two kinds of proposals, moves of groups and passes over
// windows of the timeline, and how much of each is decided by what they have gained lately.
//
// Adaptive large neighbourhood search: Ropke and Pisinger, "An adaptive large neighborhood search
// heuristic for the pickup and delivery problem with time windows", Transportation Science 2006.
#pragma once

#include <functional>

#include "runtime/heuristics/method.h"
#include "runtime/search/group_moves.h"
#include "runtime/search/polish.h"

namespace placeto {

struct SearchOptions {
  // Each move is the best ranked of a few random ones. nullptr: by what it does to the makespan,
  // nearly (estimate_ranker.h), where times tell that.
  ProposalRanker* ranker = nullptr;
  // What else ends a placement, such as the descent of stages: called at each point at which it is
  // polished, or would be if polishing paid, and at the end of a budget of time.
  std::function<void(Candidate&)> finish = nullptr;
  // Whether what is found is polished (polish.h), again and again and at the end; a budget of
  // evaluations then ends at the last point at which it is: 10, 15, 20, 30, 50 or 70 times a power
  // of ten, 10 or 30 where polishing takes as long. What it takes is not counted in full.
  bool polish = false;
  // What polishing the start gave, without `finish`: not done again.
  const Polished* polished = nullptr;
  PlacingProgress* progress = nullptr;  // noted by the search that a placing's budget is for
};

// Improves `start` in place until the budget ends; never returns worse, and of two budgets with one
// seed the larger one returns no worse. Deterministic by seed if the budget counts evaluations. The
// placement that is searched from counts as one evaluation, and so does every proposal that is
// simulated; windows that change or promise nothing count as the part of the graph that they
// placed, moves that path_bound.h rules out as a twentieth. The evaluator's `stop` ends it, too.
void adaptive_search(const Hierarchy& hierarchy, const Budget& budget, uint64_t seed,
                     MoveEvaluator& evaluator, Candidate& start, const SearchOptions& options = {});

// The same with moves of groups alone, hotter: slower to improve, but it needs no rule by which a
// node is placed.
void multilevel_search(const Hierarchy& hierarchy, const Budget& budget, uint64_t seed,
                       MoveEvaluator& evaluator, Candidate& start,
                       const SearchOptions& options = {});

// The same with passes over windows alone: what a few evaluations are best spent on.
void window_search(const Budget& budget, uint64_t seed, MoveEvaluator& evaluator, Candidate& start);

// Methods that are such a search and where it begins: window_search after passes over all of the
// timeline, and multilevel_search from the better of two heuristics.
const Method& iterate_method();
const Method& anneal_method();

}  // namespace placeto
