// The placement by names: for tools that have neither the graph nor its order of nodes.
#pragma once

#include <string>

#include "tools/export/placed.h"

namespace placeto {

// {"graph": ..., "topology": ...,
//  "devices": {"gpu:0": ["conv1", ...]}, "nodes": {"conv1": "gpu:0"}}
// Fails with kInvalidArgument when two nodes have the same name.
Result<std::string> neutral_json(const Placed& placed);

}  // namespace placeto
