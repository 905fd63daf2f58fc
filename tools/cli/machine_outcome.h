// What detect and measure give: this host as a topology.
#pragma once

#include <string>

#include "runtime/graph/topology.h"
#include "tools/cli/common.h"

namespace placeto::cli {

// To `out`, with a table on standard output; or the description itself there, where `out` is empty.
void deliver_machine(const TopologySpec& machine, const std::string& out, const Common& common);

}  // namespace placeto::cli
