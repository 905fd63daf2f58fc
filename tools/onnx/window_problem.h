// Windows that are longer than the image under them.
#pragma once

#include <span>
#include <string>

#include "tools/onnx/value.h"

namespace placeto {

// Says it of a convolution or a pool, padding included; "" of others. Engines make something of
// some of those.
std::string window_problem(const onnx::NodeProto& node, std::span<const Value* const> inputs);

}  // namespace placeto
