// The methods of the runtime, by name: those that build a placement (heuristics/heuristics.h) and
// those that search for one (search/search.h).
#pragma once

#include <string_view>
#include <vector>

#include "runtime/heuristics/method.h"

namespace placeto {

// In the order in which reports list them and `auto` tries those that are part of it.
std::vector<const Method*> builtin_methods();
// nullptr if there is none of that name.
const Method* find_method(std::string_view name);

}  // namespace placeto
