#include "tools/export/value_types.h"

#include <algorithm>

#include "tools/onnx/analysis.h"
#include "tools/onnx/dimensions.h"
#include "tools/onnx/prepare.h"

namespace placeto {
namespace {

// The type of what is in a list, or may be there; null for others.
onnx::TypeProto* element_of(onnx::TypeProto& type) {
  if (type.has_sequence_type()) return type.mutable_sequence_type()->mutable_elem_type();
  return type.has_optional_type() ? type.mutable_optional_type()->mutable_elem_type() : nullptr;
}

void clear_shape(onnx::TypeProto& type) {
  if (type.has_tensor_type()) type.mutable_tensor_type()->clear_shape();
  if (auto* element = element_of(type)) clear_shape(*element);
}

// Axes of which the other type says another number are free.
void open_differing(const onnx::TypeProto& other, onnx::TypeProto& type) {
  if (other.value_case() != type.value_case()) return;
  if (auto* element = element_of(type)) {
    onnx::TypeProto same = other;
    return open_differing(*element_of(same), *element);
  }
  if (!other.tensor_type().has_shape() || !type.tensor_type().has_shape()) return;
  auto& shape = *type.mutable_tensor_type()->mutable_shape();
  const auto& numbers = other.tensor_type().shape();
  if (shape.dim_size() != numbers.dim_size()) return clear_shape(type);
  for (int a = 0; a < shape.dim_size(); ++a) {
    const bool both = shape.dim(a).has_dim_value() && numbers.dim(a).has_dim_value();
    if (both && shape.dim(a).dim_value() != numbers.dim(a).dim_value()) {
      shape.mutable_dim(a)->Clear();
    }
  }
}

// Tensors that nodes make, with their types where they are known.
Status for_each_type(const onnx::ModelProto& model, const auto& take) {
  const Result<Analysis> analysis = analyze(model, Defaults::kReplaceable);
  if (!analysis.ok()) return analysis.status();
  for (const auto& node : model.graph().node()) {
    for (const std::string& name : node.output()) {
      const Value* value = analysis->scope.find(name);
      if (value == nullptr || !is_typed(value->type)) continue;
      take(name, value->type);
    }
  }
  return {};
}

bool states(const onnx::ModelProto& model, uint64_t extent) {
  const auto& graph = model.graph();
  const auto in = [extent](const auto& values) {
    return std::any_of(values.begin(), values.end(), [extent](const auto& value) {
      const auto& dims = value.type().tensor_type().shape().dim();
      return std::any_of(dims.begin(), dims.end(), [extent](const auto& dim) {
        return dim.has_dim_value() && static_cast<uint64_t>(dim.dim_value()) == extent;
      });
    });
  };
  return in(graph.value_info()) || in(graph.output());
}

}  // namespace

bool is_typed(const onnx::TypeProto& type) {
  if (type.has_tensor_type()) return type.tensor_type().elem_type() != 0;
  if (type.has_sequence_type()) return is_typed(type.sequence_type().elem_type());
  if (type.has_optional_type()) return is_typed(type.optional_type().elem_type());
  return type.value_case() != onnx::TypeProto::VALUE_NOT_SET;
}

Result<ValueTypes> infer_types(const onnx::ModelProto& model,
                               std::span<const ShapeSetting> declared) {
  onnx::ModelProto fixed = model;
  if (Status s = declare_axes(*fixed.mutable_graph(), declared); !s.ok()) return s;
  ValueTypes types;
  const auto take = [&](const std::string& name, const onnx::TypeProto& type) {
    types.emplace(name, type);
  };
  if (Status s = for_each_type(fixed, take); !s.ok()) return s;
  // A number that the model does not state: lengths that agree with it would seem to follow.
  uint64_t rows = 64;
  while (states(fixed, rows)) rows += 64;
  const DimSetting all{"*", rows};
  if (!set_dimensions(fixed, {&all, 1}).ok()) return types;
  const auto correct = [&](const std::string& name, const onnx::TypeProto& type) {
    const auto [known, fresh] = types.emplace(name, type);
    if (fresh) clear_shape(known->second);
    open_differing(type, known->second);
  };
  if (Status s = for_each_type(fixed, correct); !s.ok()) return s;
  return types;
}

}  // namespace placeto
