// What staged execution adds to the search: splits of the topological order as starts, and moves of
// whole stages, merging, dividing and reordering as a finish.
#pragma once

#include <vector>

#include "runtime/cost/evaluator.h"
#include "runtime/heuristics/method.h"

namespace placeto {

// For 2, 3, ... consecutive parts of the topological order, the cheapest devices and boundaries by
// dynamic programming: run times, stages, and whatever passes each boundary, one after the other.
// Exact for chains; elsewhere a start. Groups stand where their first node stands. Looks at the
// first devices alone where there are many, and leaves out numbers of parts for which rules leave
// no such split; nothing once stopped.
std::vector<Assignment> contiguous_splits(const Problem& problem, Stop* stop = nullptr);

// Whether one is better than the other by more than adding the same times in another order makes: a
// difference as small as that is not worth another stage.
bool gains(const Score& score, const Score& than);

// A descent: moves every stage as a whole to every other device, merges stages of a device, divides
// stages where a cut enters or leaves, and keeps what is better, or as good with fewer stages;
// then, on small graphs, moves nodes and what precedes or follows them in their stage to other
// stages; last lets devices take stages earlier. Never worse than what it starts from. The
// candidate's division is then filled, with the order in which stages start. At most so many
// evaluations, and 10,000 of moves of parts of stages.
void refine_stages(uint64_t evaluations, Evaluator& evaluator, Candidate& candidate);
// The same of the division alone: every node stays on its device.
void refine_division(uint64_t evaluations, Evaluator& evaluator, Candidate& candidate);

// Moves and merges stages as long as the objective stays within `limit_us`, for fewer of them.
void simplify_stages(uint64_t evaluations, double limit_us, Evaluator& evaluator,
                     Candidate& candidate);

// How many stages a candidate has: those it is divided into, or the fewest.
uint32_t count_stages(const Candidate& candidate, Evaluator& evaluator);

}  // namespace placeto
