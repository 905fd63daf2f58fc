// Evaluation of small constants: the arithmetic on shapes that exporters write into models (Shape,
// Gather, Concat, Mul, ... in front of Reshape or Resize). Without it most real models with
// symbolic dimensions keep unknown shapes; libonnx's own data propagation covers few operators.
#pragma once

#include <span>
#include <vector>

#include "tools/onnx/value.h"

namespace placeto {

// Values of the outputs of a node of the default domain if they follow from constant inputs (Shape
// and Size: from shapes) and have at most kMaxConstantElements elements. Empty when they do not
// follow, the operator is not one of those known here, or an input is not valid for it. An input
// that is not given is null.
std::vector<Constant> fold(const onnx::NodeProto& node, std::span<const Value* const> inputs);

}  // namespace placeto
