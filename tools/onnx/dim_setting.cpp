#include "tools/onnx/dim_setting.h"

#include <algorithm>
#include <charconv>

#include "runtime/format/placement.h"
#include "runtime/graph/text.h"

namespace placeto {

Result<DimSetting> parse_dim_setting(const std::string& text) {
  const size_t equals = text.rfind('=');
  DimSetting setting;
  if (equals != std::string::npos && equals > 0) {
    setting.name = text.substr(0, equals);
    const char* end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(text.data() + equals + 1, end, setting.value);
    if (error == std::errc() && stop == end && setting.value > 0 && setting.value <= kMaxExtent) {
      return setting;
    }
  }
  return Status::invalid(std::string(kDimWords) + " " + in_quotes(text) +
                         ": expected NAME=N with a whole number N from 1 to " +
                         std::to_string(kMaxExtent));
}

static bool is_place(const std::string& name) {
  return name.ends_with(']');
}

std::vector<DimSetting> merged_dims(std::span<const DimSetting> recorded,
                                    std::span<const DimSetting> given,
                                    const NameOfAxis& name_of_axis) {
  std::vector<DimSetting> merged(given.begin(), given.end());
  const auto is_replaced = [&](const std::string& before) {
    return std::any_of(given.begin(), given.end(), [&](const DimSetting& dim) {
      if (dim.name == "*" || dim.name == before) return true;
      if (before == "*" || is_place(dim.name) == is_place(before)) return false;
      const std::string& place = is_place(before) ? before : dim.name;
      const auto name = name_of_axis(place);
      return !name || *name == (is_place(before) ? dim.name : before);
    });
  };
  for (const DimSetting& dim : recorded) {
    if (!is_replaced(dim.name)) merged.push_back(dim);
  }
  return merged;
}

}  // namespace placeto
