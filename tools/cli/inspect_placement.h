// placeto inspect, of placements.
#pragma once

#include <string>

#include "runtime/format/placement.h"
#include "tools/cli/common.h"

namespace placeto::cli {

Json describe(const PlacementSpec& spec);
std::string summarize(const PlacementSpec& spec);

}  // namespace placeto::cli
