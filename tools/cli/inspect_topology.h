// placeto inspect, of topologies.
#pragma once

#include <string>

#include "runtime/graph/topology.h"
#include "tools/cli/common.h"

namespace placeto::cli {

Json describe(const Topology& topology);
std::string summarize(const Topology& topology);

}  // namespace placeto::cli
