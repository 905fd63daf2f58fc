// Symbolic dimensions of a model's inputs, set everywhere in it.
#pragma once

#include <span>

#include "runtime/base/result.h"
#include "tools/onnx/dim_setting.h"

namespace onnx {
class ModelProto;
}

namespace placeto {

// Puts the numbers into the types of inputs, outputs and intermediate tensors, those in bodies of
// control flow too. A number that an axis of an input gets, by its own name or by "*", holds for
// the axis's symbol everywhere, unless the symbol has a setting of its own. Fails with
// kInvalidArgument, naming them and the option that sets them, if dimensions of inputs that
// something reads are left without a number, and if a setting matches nothing in the model.
Status set_dimensions(onnx::ModelProto& model, std::span<const DimSetting> settings);

}  // namespace placeto
