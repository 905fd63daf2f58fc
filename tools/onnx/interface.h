// What a model says of itself: versions, inputs and outputs. Private to import.cpp.
#pragma once

#include <span>

#include "tools/onnx/import.h"
#include "tools/onnx/model.h"

namespace placeto {

// To be asked before numbers are set. Inputs that are set are parameters.
void describe_interface(const onnx::ModelProto& model, std::span<const InputSetting> set,
                        ImportReport& report);

}  // namespace placeto
