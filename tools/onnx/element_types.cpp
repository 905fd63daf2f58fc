#include "tools/onnx/element_types.h"

#include <onnx/defs/data_type_utils.h>
#include <onnx/defs/schema.h>

#include <algorithm>

namespace placeto {
namespace {

using onnx::NodeProto;
using onnx::OpSchema;
using Formal = OpSchema::FormalParameter;

// The formal parameter of position i; the last one of a variadic operator stands for all that
// follow. Null if there is none, or if the types of a variadic one differ.
const Formal* formal(const std::vector<Formal>& list, size_t i) {
  if (list.empty()) return nullptr;
  const Formal& parameter = list[std::min(i, list.size() - 1)];
  const bool variadic = parameter.GetOption() == OpSchema::Variadic;
  if (variadic && !parameter.GetIsHomogeneous()) return nullptr;
  return i < list.size() || variadic ? &parameter : nullptr;
}

int32_t element_type_of_inputs(const NodeProto& node, std::span<const Value* const> inputs,
                               const OpSchema& schema, const std::string& variable) {
  for (size_t i = 0; i < inputs.size(); ++i) {
    const Formal* parameter = formal(schema.inputs(), i);
    if (parameter == nullptr || parameter->GetTypeStr() != variable) continue;
    if (inputs[i] != nullptr && inputs[i]->element_type() != 0) return inputs[i]->element_type();
  }
  // Its output has the type of an attribute instead.
  return node.op_type() == "Cast" ? static_cast<int32_t>(int_attribute(node, "to", 0)) : 0;
}

int32_t only_allowed(const Formal& parameter) {
  const auto& allowed = parameter.GetTypes();
  if (allowed.size() != 1) return 0;
  const onnx::TypeProto& type = onnx::Utils::DataTypeUtils::ToTypeProto(*allowed.begin());
  return type.has_tensor_type() ? type.tensor_type().elem_type() : 0;
}

// What ONNX Runtime writes into models it has optimised: its blocked layout is there for float32
// alone; of its own operators all but those that quantise keep the type of their first input. 0:
// not known.
int32_t type_in_engine(const NodeProto& node, const std::string& domain,
                       std::span<const Value* const> inputs) {
  if (domain == "com.microsoft.nchwc") return onnx::TensorProto::FLOAT;
  if (domain != "com.microsoft" || inputs.empty() || inputs[0] == nullptr) return 0;
  const auto says = [&](const char* word) {
    return node.op_type().find(word) != std::string::npos;
  };
  if (says("Dequantize") || says("DynamicQuantize") || says("ToFloat")) {
    return onnx::TensorProto::FLOAT;
  }
  return says("Quantize") || says("Integer") ? 0 : inputs[0]->element_type();
}

}  // namespace

void infer_element_types(const NodeProto& node, std::span<const Value* const> inputs,
                         const Opsets& opsets, std::span<Value> outputs) {
  const std::string domain = is_default_domain(node.domain()) ? "" : node.domain();
  if (const int32_t type = type_in_engine(node, domain, inputs); type != 0 && !outputs.empty()) {
    if (outputs[0].type.value_case() == onnx::TypeProto::VALUE_NOT_SET) {
      outputs[0].type.mutable_tensor_type()->set_elem_type(type);
    }
    return;
  }
  const auto version = opsets.find(domain);
  if (version == opsets.end()) return;
  const OpSchema* schema = onnx::OpSchemaRegistry::Schema(node.op_type(), version->second, domain);
  if (schema == nullptr) return;
  for (size_t i = 0; i < outputs.size(); ++i) {
    if (outputs[i].type.value_case() != onnx::TypeProto::VALUE_NOT_SET) continue;
    const Formal* parameter = formal(schema->outputs(), i);
    if (parameter == nullptr) continue;
    int32_t type = only_allowed(*parameter);
    if (type == 0) type = element_type_of_inputs(node, inputs, *schema, parameter->GetTypeStr());
    if (type != 0) outputs[i].type.mutable_tensor_type()->set_elem_type(type);
  }
}

}  // namespace placeto
