// Types of the tensors between the nodes of an ONNX model's main graph.
#pragma once

#include <onnx/onnx_pb.h>

#include <map>
#include <span>
#include <string>

#include "runtime/base/result.h"
#include "tools/onnx/settings.h"

namespace placeto {

// Types of tensors of the main graph, as far as they are known.
using ValueTypes = std::map<std::string, onnx::TypeProto>;

// Types of all tensors that nodes make. Free dimensions stay free, also where the model states
// numbers that follow from others, as after inputs were made free in a finished model: with a
// number for each of them, inference finds another. Where they hide even the type of the elements,
// that inference may find it; what it says of shapes holds for its number alone and is dropped.
// `declared` says what nothing follows from: elements and axes, their lengths left free.
// Fails as import does.
Result<ValueTypes> infer_types(const onnx::ModelProto& model,
                               std::span<const ShapeSetting> declared = {});

// Whether the type says what its elements are.
bool is_typed(const onnx::TypeProto& type);

}  // namespace placeto
