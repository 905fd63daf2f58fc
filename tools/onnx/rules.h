// Shapes of operators that libonnx 1.12 does not know, or knows only in an older form: newer
// operator sets, and those that ONNX Runtime's optimizer and quantizer write (domain
// com.microsoft).
#pragma once

#include <span>

#include "tools/onnx/value.h"

namespace placeto {

// Sets the types of outputs from those of inputs (null: not given) where there is a rule for the
// operator and the inputs are known well enough; false, and nothing set, otherwise.
// outputs.size() == node.output_size().
bool apply_shape_rule(const onnx::NodeProto& node, std::span<const Value* const> inputs,
                      std::span<Value> outputs);

// Gives an output of ONNX's own operators, whose type is known and whose shape is not, as many axes
// as it has whatever its lengths are: engines want to know that of what passes between stages.
void give_rank(const onnx::NodeProto& node, std::span<const Value* const> inputs, Value& output);

// Says of a list that an operator of ONNX makes how many entries it has, if that follows.
void count_entries(const onnx::NodeProto& node, std::span<const Value* const> inputs,
                   Value& output);

}  // namespace placeto
