#pragma once

#include <optional>
#include <vector>

#include "runtime/cost/move_evaluator.h"
#include "runtime/groups/hierarchy.h"
#include "runtime/heuristics/method.h"

namespace placeto {

// Everything on one device, for each device that may run every group; unless pins leave no such
// device, in which case groups that may not run there go to the first device they may. Only those
// evaluated by the time the evaluator's `stop` says so, maybe none.
std::vector<Candidate> place_on_each_device(const Problem& problem, Evaluator& evaluator);

const Method& single_method();
const Method& random_method();
const Method& contiguous_method();
const Method& heft_method();
const Method& etf_method();
const Method& iterate_method();
const Method& anneal_method();

// `iterate` for who has the hierarchy and ETF's placement already. Where windows follow the passes,
// the evaluator is made for them and kept.
Result<Candidate> iterate_from(const Problem& problem, const Hierarchy& hierarchy,
                               const Assignment& etf, const MethodOptions& options,
                               std::optional<MoveEvaluator>& evaluator);

}  // namespace placeto
