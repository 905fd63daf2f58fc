// The numbers that a caller gives symbolic dimensions of a model's inputs. Reads no model: what
// runs stages needs them, too.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/base/result.h"

namespace placeto {

// `name` is that of a dimension ("batch"), an axis of an input ("tokens[1]"), or "*" for all that
// nothing else sets.
struct DimSetting {
  std::string name;
  uint64_t value = 0;
  bool may_be_absent = false;  // no error if the model has no such free dimension (any more)
};

// How messages begin that speak of one: callers have it from unlike places, and may put in what it
// is called there, as the command does with its options (tools/cli/graph_input.h).
inline constexpr const char* kDimWords = "dimension setting";

// "batch=1": kInvalidArgument unless it has that form with a whole number from 1 to kMaxExtent
// (runtime/format/placement.h).
Result<DimSetting> parse_dim_setting(const std::string& text);

// "batch=1"
inline std::string dim_text(const DimSetting& dim) {
  return dim.name + "=" + std::to_string(dim.value);
}

// "tokens[1]" taken apart, which points into it; nothing if it is no place.
struct AxisPlace {
  std::string_view input;
  size_t axis = 0;
};
std::optional<AxisPlace> parse_place(std::string_view place);

// The name of the axis at a place: "" if it has none, nothing if nobody knows.
using NameOfAxis = std::function<std::optional<std::string>(const std::string& place)>;

// What is given, and of what was recorded that which speaks of other axes: "*" speaks of all, a
// name and a place may mean the same one.
std::vector<DimSetting> merged_dims(std::span<const DimSetting> recorded,
                                    std::span<const DimSetting> given,
                                    const NameOfAxis& name_of_axis);

}  // namespace placeto
