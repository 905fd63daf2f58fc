// Types of elements where shapes are not known: an engine that runs a part of a model must be told
// the type of what comes in, not its shape.
#pragma once

#include <span>

#include "tools/onnx/library_inference.h"
#include "tools/onnx/value.h"

namespace placeto {

// Gives outputs without a type the type of elements that the operator's schema demands: that of the
// inputs for which the schema has the same type variable, or the only one that it allows. Operators
// that ONNX Runtime writes into models, and those of ONNX that are newer than libonnx 1.12, have
// rules here. Shapes stay unknown, and so do types of other operators without a schema in libonnx.
void infer_element_types(const onnx::NodeProto& node, std::span<const Value* const> inputs,
                         const Opsets& opsets, std::span<Value> outputs);

}  // namespace placeto
