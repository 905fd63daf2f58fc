// placeto inspect, of graphs.
#pragma once

#include <string>

#include "runtime/graph/graph.h"
#include "tools/cli/common.h"

namespace placeto::cli {

Json describe(const Graph& graph);
std::string summarize(const Graph& graph);

}  // namespace placeto::cli
