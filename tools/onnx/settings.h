// What a caller says about a model that the model leaves open: numbers for free dimensions, values
// of inputs, shapes of inner tensors. Names no protobuf type.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "runtime/base/result.h"
#include "tools/onnx/dim_setting.h"

namespace placeto {

// How messages begin that speak of one, as kDimWords (dim_setting.h).
inline constexpr const char *kValueWords = "input setting", *kShapeWords = "shape setting";

// A value that an input always has, so that branches that depend on it are decided: one number for
// all its elements, or one for each.
struct InputSetting {
  std::string name;
  std::vector<double> values;
};
// "use_cache_branch=false", "ids=1,2,3": kInvalidArgument unless it has that form.
Result<InputSetting> parse_input_setting(const std::string& text);

// The shape of a tensor, and its elements if they do not follow: where an operator that nobody
// knows hides them.
struct ShapeSetting {
  std::string tensor;
  std::vector<int64_t> dims;
  int32_t element_type = 0;  // onnx::TensorProto::DataType; 0: as inferred, or else float
};
// "features=1x256x56x56", "ids=1x128:int64": kInvalidArgument unless it has that form.
Result<ShapeSetting> parse_shape_setting(const std::string& text);

struct ModelSettings {
  std::vector<DimSetting> dims;
  std::vector<InputSetting> inputs;
  std::vector<ShapeSetting> shapes;
};

}  // namespace placeto
