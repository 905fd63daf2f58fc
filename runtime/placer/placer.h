// place(): the best feasible placement among many ways to find one.
#pragma once

#include <string>
#include <vector>

#include "runtime/cost/bounds.h"
#include "runtime/heuristics/method.h"

namespace placeto {

struct PlaceResult {
  Candidate best;
  std::vector<Candidate> candidates;  // everything tried, in the order tried
  LowerBounds bounds;
  Timeline timeline;    // of the best
  double place_us = 0;  // wall time the placing took
};

// `auto`: the best feasible of single (each device), contiguous, heft, etf and iterate; with a
// budget, multilevel search then improves the best of them, so the answer is never worse than any.
// Candidates are compared by the cost model; ties go to the one tried first. Where memory is so
// tight that none fits, a search for less overflow follows.
// Fails with kInfeasible, naming the shortfall in bytes per device, if nothing fits.
Result<PlaceResult> place_auto(const Problem& problem, const MethodOptions& options);

// One method alone, under the same contract.
Result<PlaceResult> place_with(const Problem& problem, const Method& method,
                               const MethodOptions& options);

}  // namespace placeto
