// Whether a graph's run times are of kinds that a topology has no device of.
#pragma once

#include <string>

#include "runtime/graph/graph.h"
#include "runtime/graph/topology.h"

namespace placeto {

// "run times on 'CPU' are not used: devices are of 'cpu' and 'gpu'" where the graph has run times
// on kinds that no device has, and none on kinds that some have; else "". Such devices' times are
// estimated, which nobody notices who has misspelt a kind.
std::string unused_times(const Graph& graph, const Topology& topology);

}  // namespace placeto
