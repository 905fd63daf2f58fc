// Inputs that an operator cannot take together: a model says what shape the output has, which would
// hide that no engine runs it.
#pragma once

#include <span>
#include <string>

#include "tools/onnx/value.h"

namespace placeto {

// Why no engine runs the node on inputs of such shapes; "" if one may. What is not known fits, and
// so does what ONNX Runtime takes beyond what ONNX says. `opset`: the version of ONNX's own set.
std::string misfit(const onnx::NodeProto& node, std::span<const Value* const> inputs, int opset);

}  // namespace placeto
