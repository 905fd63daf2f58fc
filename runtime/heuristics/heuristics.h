// The methods that build a placement from nothing.
#pragma once

#include <vector>

#include "runtime/heuristics/method.h"
#include "runtime/heuristics/workbench.h"

namespace placeto {

const Method& single_method();
const Method& random_method();
const Method& contiguous_method();
const Method& heft_method();
const Method& etf_method();

// Everything on one device, for each device that may run every group; unless pins leave no such
// device, in which case groups that may not run there go to the first device they may. Only those
// evaluated by the time the evaluator's `stop` says so, maybe none.
std::vector<Candidate> place_on_each_device(const Problem& problem, Evaluator& evaluator);

}  // namespace placeto
