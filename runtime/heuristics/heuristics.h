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

// For each device everything that may run there, the rest on the first devices that it may. Only
// those evaluated by the time the evaluator's `stop` says so, maybe none.
std::vector<Candidate> place_on_each_device(const Problem& problem, Evaluator& evaluator);

}  // namespace placeto
