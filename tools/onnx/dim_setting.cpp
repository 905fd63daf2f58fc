#include "tools/onnx/dim_setting.h"

#include <charconv>
#include <set>

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

std::optional<AxisPlace> parse_place(std::string_view place) {
  const size_t bracket = place.rfind('[');
  if (bracket == std::string_view::npos || !place.ends_with(']')) return std::nullopt;
  const std::string_view digits = place.substr(bracket + 1, place.size() - bracket - 2);
  const char* end = digits.data() + digits.size();
  AxisPlace parsed{place.substr(0, bracket)};
  const auto [stop, error] = std::from_chars(digits.data(), end, parsed.axis);
  const bool is_padded = digits.size() > 1 && digits.front() == '0';
  if (error != std::errc() || stop != end || is_padded) return std::nullopt;
  return parsed;
}

static bool is_place(const std::string& name) {
  return name.ends_with(']');
}

std::vector<DimSetting> merged_dims(std::span<const DimSetting> recorded,
                                    std::span<const DimSetting> given,
                                    const NameOfAxis& name_of_axis) {
  std::vector<DimSetting> merged(given.begin(), given.end());
  std::set<std::string> names, places, names_of_places;
  bool has_unknown_place = false;  // which may be any axis
  for (const DimSetting& dim : given) {
    (is_place(dim.name) ? places : names).insert(dim.name);
    if (!is_place(dim.name)) continue;
    const auto name = name_of_axis(dim.name);
    has_unknown_place = has_unknown_place || !name;
    if (name) names_of_places.insert(*name);
  }
  const auto is_replaced = [&](const std::string& before) {
    if (names.contains("*") || names.contains(before) || places.contains(before)) return true;
    if (before == "*") return false;
    if (!is_place(before)) return has_unknown_place || names_of_places.contains(before);
    const auto name = name_of_axis(before);
    return name ? names.contains(*name) : !names.empty();
  };
  for (const DimSetting& dim : recorded) {
    if (!is_replaced(dim.name)) merged.push_back(dim);
  }
  return merged;
}

}  // namespace placeto
