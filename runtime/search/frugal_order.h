// Stages of one node each, in an order in which devices hold little at a time.
#pragma once

#include <span>

#include "runtime/cost/evaluator.h"
#include "runtime/heuristics/method.h"

namespace placeto {

// List scheduling by memory: next is always the node that makes its device hold least more once it
// has run, its outputs less what nobody there reads any longer; equal ones in topological order.
// Empty if stopped.
Division frugal_order(const Problem& problem, std::span<const uint32_t> assignment,
                      Stop* stop = nullptr);

// Stages of a device that follow each other in such an order become one, where the score is no
// worse: as many as go together, from the first on, found by doubling and then by halves. At most
// so many evaluations; once stopped, those that were found to be no worse.
void gather_stages(uint64_t evaluations, Evaluator& evaluator, Candidate& candidate);

}  // namespace placeto
