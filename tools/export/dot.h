// The graph in the language of Graphviz, coloured by device.
#pragma once

#include <string>

#include "runtime/graph/graph.h"
#include "tools/export/placed.h"

namespace placeto {

// Nodes are labelled with name and operator; edges between devices are bold and labelled with the
// bytes they move. `placed` must be of this graph.
std::string to_dot(const Placed& placed, const Graph& graph);

}  // namespace placeto
