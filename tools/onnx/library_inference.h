// Shape inference of one node by libonnx, guarded: the library trusts its input and may divide by
// zero or read beyond the end of a list when attributes or inputs are not what its schema says.
#pragma once

#include <span>
#include <string>
#include <unordered_map>

#include "tools/onnx/value.h"

namespace placeto {

using Opsets = std::unordered_map<std::string, int>;  // version by domain, "" for ONNX's own

// Sets the types of outputs as far as they follow; false, with the reason, when nothing does.
bool infer_with_library(const onnx::NodeProto& node, std::span<const Value* const> inputs,
                        const Opsets& opsets, std::span<Value> outputs, std::string& problem);

}  // namespace placeto
