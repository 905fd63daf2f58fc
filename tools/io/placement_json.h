// A placement as a JSON object to add to: for `place --json`.
#pragma once

#include <nlohmann/json.hpp>

#include "runtime/format/placement_file.h"

namespace placeto {

// Every field, in the schema's order, at its default or not.
nlohmann::ordered_json placement_object(const PlacementSpec& spec);

}  // namespace placeto
