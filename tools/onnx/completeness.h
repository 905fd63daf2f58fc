// What is not known of what a node makes.
#pragma once

#include <vector>

#include "tools/onnx/analysis.h"

namespace placeto {

// Sequences, maps and optionals have no size that could be known.
bool has_size(const Value& value);

// Every axis is known, and all together they are more than numbers of bytes go.
bool overflows(const Value& value);

// Says in the node's result whether it is complete, and if not, why, unless that is said.
void check_complete(const onnx::NodeProto& node, const std::vector<Value>& outputs,
                    NodeAnalysis& result);

}  // namespace placeto
