#include "tools/export/value_types.h"

#include "tools/onnx/analysis.h"
#include "tools/onnx/dimensions.h"

namespace placeto {
namespace {

Status add_types(const onnx::ModelProto& model, bool with_shapes, ValueTypes& types) {
  const Result<Analysis> analysis = analyze(model);
  if (!analysis.ok()) return analysis.status();
  for (const auto& node : model.graph().node()) {
    for (const std::string& name : node.output()) {
      const Value* value = analysis->scope.find(name);
      if (value == nullptr || value->type.value_case() == onnx::TypeProto::VALUE_NOT_SET) continue;
      if (value->is_tensor() && value->element_type() == 0) continue;
      if (types.contains(name)) continue;
      types[name] = value->type;
      if (!with_shapes && value->is_tensor()) types[name].mutable_tensor_type()->clear_shape();
    }
  }
  return {};
}

}  // namespace

Result<ValueTypes> infer_types(const onnx::ModelProto& model) {
  ValueTypes types;
  if (Status s = add_types(model, true, types); !s.ok()) return s;
  onnx::ModelProto fixed = model;
  const DimSetting all{"*", 64};
  if (set_dimensions(fixed, {&all, 1}).ok()) {
    if (Status s = add_types(fixed, false, types); !s.ok()) return s;
  }
  return types;
}

}  // namespace placeto
