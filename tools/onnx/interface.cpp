#include "tools/onnx/interface.h"

#include <set>
#include <string>
#include <string_view>

#include "tools/io/element_names.h"

namespace placeto {
namespace {

std::string shape_text(const onnx::TypeProto& type) {
  if (!type.has_tensor_type()) return "";
  if (!type.tensor_type().has_shape()) return "?";
  std::string text;
  for (const auto& dim : type.tensor_type().shape().dim()) {
    if (!text.empty()) text += " x ";
    text += dim.has_dim_value()       ? std::to_string(dim.dim_value())
            : dim.dim_param().empty() ? "?"
                                      : dim.dim_param();
  }
  return text;
}

std::string type_text(const onnx::TypeProto& type) {
  if (!type.has_tensor_type()) return "not a tensor";
  const int element = type.tensor_type().elem_type();
  if (element == 0) return "undefined";
  const std::string_view name = element_name(element);
  return name.empty() ? std::to_string(element) : std::string(name);
}

}  // namespace

void describe_interface(const onnx::ModelProto& model, std::span<const InputSetting> set,
                        ImportReport& report) {
  for (const auto& import : model.opset_import()) {
    const std::string domain = is_default_domain(import.domain()) ? "" : import.domain();
    report.opsets.emplace_back(domain, import.version());
  }
  std::set<std::string> parameters, symbols;
  for (const auto& tensor : model.graph().initializer()) parameters.insert(tensor.name());
  for (const InputSetting& setting : set) parameters.insert(setting.name);
  for (const auto& input : model.graph().input()) {
    if (parameters.contains(input.name())) continue;
    report.inputs.push_back({input.name(), type_text(input.type()), shape_text(input.type())});
    const auto& shape = input.type().tensor_type().shape();
    for (int a = 0; a < shape.dim_size(); ++a) {
      if (shape.dim(a).has_dim_value()) continue;
      const std::string& symbol = shape.dim(a).dim_param();
      const std::string name =
          symbol.empty() ? input.name() + "[" + std::to_string(a) + "]" : symbol;
      if (symbols.insert(name).second) report.symbols.push_back(name);
    }
  }
  for (const auto& output : model.graph().output()) {
    report.outputs.push_back({output.name(), type_text(output.type()), shape_text(output.type())});
  }
}

}  // namespace placeto
