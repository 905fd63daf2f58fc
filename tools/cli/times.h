// What is said of run times before a table compares them.
#pragma once

#include <string>

#include "runtime/graph/graph.h"
#include "runtime/graph/topology.h"

namespace placeto::cli {

// A line on standard error, as of a topology's own numbers, when run times on some of its kinds of
// device were measured and on others estimated.
void note_unlike_times(const std::string& graph_path, const Graph& graph,
                       const std::string& topology_path, const Topology& topology);

}  // namespace placeto::cli
