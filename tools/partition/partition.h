// Placements by general graph partitioners: the baselines that know load and cut, but no timeline.
#pragma once

#include <span>
#include <string_view>

#include "runtime/heuristics/method.h"

namespace placeto {

// `scotch` and `metis`, as far as their libraries were there when Placeto was built; maybe none.
// Lives as long as the program.
std::span<const Method* const> partition_methods();

// Names that partition_methods() can hold, built or not.
std::span<const std::string_view> partition_method_names();

}  // namespace placeto
