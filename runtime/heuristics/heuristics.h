// The methods of the runtime.
#pragma once

#include <array>
#include <vector>

#include "runtime/heuristics/method.h"
#include "runtime/heuristics/workbench.h"

namespace placeto {

// Every one, in the order in which reports list them and `auto` tries those that are part of it.
// This line is all that the rest of the program needs of a new one.
#define PLACETO_METHODS(X) X(single) X(random) X(contiguous) X(heft) X(etf) X(iterate) X(anneal)

#define PLACETO_DECLARE_METHOD(name) const Method& name##_method();
PLACETO_METHODS(PLACETO_DECLARE_METHOD)
#undef PLACETO_DECLARE_METHOD

#define PLACETO_COUNT_METHOD(name) +1
inline constexpr size_t kMethodCount = PLACETO_METHODS(PLACETO_COUNT_METHOD);
#undef PLACETO_COUNT_METHOD

// By value: a static list of addresses that other files know would have to be filled at run time.
std::array<const Method*, kMethodCount> builtin_methods();
// nullptr if there is none of that name.
const Method* find_method(std::string_view name);

// Everything on one device, for each device that may run every group; unless pins leave no such
// device, in which case groups that may not run there go to the first device they may. Only those
// evaluated by the time the evaluator's `stop` says so, maybe none.
std::vector<Candidate> place_on_each_device(const Problem& problem, Evaluator& evaluator);

}  // namespace placeto
