// Symbolic dimensions of a model's inputs, and the numbers that a caller gives them.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "runtime/base/result.h"
#include "runtime/format/placement_file.h"

namespace onnx {
class ModelProto;
}

namespace placeto {

// `name` is that of a dimension ("batch"), an axis of an input ("tokens[1]"), or "*" for all that
// nothing else sets.
struct DimSetting {
  std::string name;
  uint64_t value = 0;
  bool may_be_absent = false;  // no error if the model has no such free dimension (any more)
};

// "batch=1": kInvalidArgument unless it has that form with a whole number from 1 to kMaxExtent.
Result<DimSetting> parse_dim_setting(const std::string& text);

// "batch=1"
inline std::string dim_text(const DimSetting& dim) {
  return dim.name + "=" + std::to_string(dim.value);
}

// The name of the axis at a place ("tokens[1]"): "" if it has none, nothing if nobody knows.
using NameOfAxis = std::function<std::optional<std::string>(const std::string& place)>;

// What is given, and of what was recorded that which speaks of other axes: "*" speaks of all, a
// name and a place may mean the same one.
std::vector<DimSetting> merged_dims(std::span<const DimSetting> recorded,
                                    std::span<const DimSetting> given,
                                    const NameOfAxis& name_of_axis);

// Puts the numbers into the types of inputs, outputs and intermediate tensors, those in bodies of
// control flow too. A number that an axis of an input gets, by its own name or by "*", holds for
// the axis's symbol everywhere, unless the symbol has a setting of its own. Fails with
// kInvalidArgument, naming them and the option that sets them, if dimensions of inputs that
// something reads are left without a number, and if a setting matches nothing in the model.
Status set_dimensions(onnx::ModelProto& model, std::span<const DimSetting> settings);

}  // namespace placeto
