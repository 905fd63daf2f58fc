#include "tools/onnx/settings.h"

#include <charconv>
#include <cmath>

#include "runtime/format/placement.h"
#include "runtime/graph/text.h"
#include "tools/io/element_names.h"

namespace placeto {
namespace {

constexpr size_t kMostValues = 4096;
constexpr size_t kMostAxes = 64;

// Calls `take` with each part between separators; false as soon as it says so.
template <class Take>
bool each_part(std::string_view text, char separator, Take take) {
  for (size_t begin = 0, end = 0; end != std::string_view::npos; begin = end + 1) {
    end = text.find(separator, begin);
    if (!take(text.substr(begin, end == std::string_view::npos ? end : end - begin))) return false;
  }
  return true;
}

template <class Number>
bool read_number(std::string_view text, Number& number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size();
}

bool read_value(std::string_view text, double& value) {
  if (text == "true" || text == "false") return value = text == "true" ? 1 : 0, true;
  return read_number(text, value) && std::isfinite(value);
}

Status no_type(const std::string& setting, std::string_view name) {
  std::string names;
  for (int32_t type = 1; !element_name(type).empty(); ++type) {
    const std::string_view numpy = numpy_name(type), onnx = element_name(type);
    names += (type == 1 ? "" : ", ") + std::string(numpy);
    if (onnx != numpy) names += " (or " + std::string(onnx) + ")";
  }
  return Status::invalid(std::string(kShapeWords) + " " + in_quotes(setting) + ": " +
                         in_quotes(name) + " is no type of elements: expected one of " + names);
}

}  // namespace

Result<InputSetting> parse_input_setting(const std::string& text) {
  const size_t equals = text.rfind('=');
  InputSetting setting;
  if (equals != std::string::npos && equals > 0) {
    setting.name = text.substr(0, equals);
    const bool read = each_part(std::string_view(text).substr(equals + 1), ',', [&](auto part) {
      setting.values.push_back(0);
      return setting.values.size() <= kMostValues && read_value(part, setting.values.back());
    });
    if (read) return setting;
  }
  return Status::invalid(std::string(kValueWords) + " " + in_quotes(text) +
                         ": expected INPUT=VALUE with true, false, a number, or at most " +
                         std::to_string(kMostValues) + " numbers with commas between them");
}

Result<ShapeSetting> parse_shape_setting(const std::string& text) {
  const size_t equals = text.rfind('=');
  ShapeSetting setting;
  if (equals != std::string::npos && equals > 0) {
    setting.tensor = text.substr(0, equals);
    std::string_view shape = std::string_view(text).substr(equals + 1);
    const size_t colon = shape.find(':');
    if (colon != std::string_view::npos) {
      setting.element_type = numpy_named(shape.substr(colon + 1));
      if (setting.element_type == 0) return no_type(text, shape.substr(colon + 1));
      shape = shape.substr(0, colon);
    }
    const bool read = each_part(shape, 'x', [&](auto part) {
      int64_t dim = 0;
      if (!read_number(part, dim) || dim < 0 || dim > static_cast<int64_t>(kMaxExtent)) {
        return false;
      }
      setting.dims.push_back(dim);
      return setting.dims.size() <= kMostAxes;
    });
    if (read) return setting;
  }
  return Status::invalid(std::string(kShapeWords) + " " + in_quotes(text) +
                         ": expected TENSOR=AxBxC, such as features=1x256x56x56, or with the type "
                         "of its elements behind it, such as ids=1x128:int64");
}

}  // namespace placeto
