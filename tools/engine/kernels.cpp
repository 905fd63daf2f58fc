#include "tools/engine/kernels.h"

#include <algorithm>
#include <set>

#include "tools/io/element_names.h"

namespace placeto {
namespace {

static_assert(std::size(kElementTypes) <= 8 * sizeof(TypeSet));

// The type of one input. A name that ONNX does not have is bit 0, which no kernel lists.
TypeSet type_of(const std::string& name) {
  return name.empty() ? kAnyType : TypeSet{1} << element_named(name);
}

bool in_range(const Kernel& kernel, const NodeSpec& node) {
  return node.opset == 0 || (kernel.first <= node.opset && node.opset <= kernel.last);
}

bool takes(const Kernel& kernel, size_t input, TypeSet type) {
  if (kernel.inputs.empty()) return true;
  return (kernel.inputs[std::min(input, kernel.inputs.size() - 1)] & type) != 0;
}

bool takes_all(const Kernel& kernel, const std::vector<TypeSet>& types) {
  for (size_t i = 0; i < types.size(); ++i) {
    if (!takes(kernel, i, types[i])) return false;
  }
  return true;
}

// "float and int64": each once.
std::string types_text(const NodeSpec& node) {
  const std::set<std::string> types(node.input_types.begin(), node.input_types.end());
  std::string text;
  for (const std::string& type : types) {
    if (!type.empty()) text += (text.empty() ? "" : " and ") + type;
  }
  return text;
}

}  // namespace

std::string refusal(std::span<const Kernel* const> kernels, const NodeSpec& node) {
  std::vector<const Kernel*> left;
  std::copy_if(kernels.begin(), kernels.end(), std::back_inserter(left),
               [&](const Kernel* kernel) { return in_range(*kernel, node); });
  if (left.empty()) return "operator set " + std::to_string(node.opset);
  std::vector<TypeSet> types;
  for (const std::string& name : node.input_types) types.push_back(type_of(name));
  const auto any = [&left](auto accepts) { return std::any_of(left.begin(), left.end(), accepts); };
  if (any([&](const Kernel* kernel) { return takes_all(*kernel, types); })) return "";
  // The first type that no kernel takes where it stands, or else types that none takes together.
  for (size_t i = 0; i < types.size(); ++i) {
    if (any([&](const Kernel* kernel) { return takes(*kernel, i, types[i]); })) continue;
    return "of " + node.input_types[i];
  }
  return "of " + types_text(node);
}

}  // namespace placeto
