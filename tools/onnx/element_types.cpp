#include "tools/onnx/element_types.h"

#include <onnx/defs/data_type_utils.h>
#include <onnx/defs/schema.h>

#include <algorithm>
#include <optional>
#include <string_view>

#include "tools/io/word_list.h"

namespace placeto {
namespace {

using onnx::NodeProto;
using onnx::OpSchema;
using onnx::TensorProto;
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

int32_t element_type_of_inputs(std::span<const Value* const> inputs, const OpSchema& schema,
                               const std::string& variable) {
  for (size_t i = 0; i < inputs.size(); ++i) {
    const Formal* parameter = formal(schema.inputs(), i);
    if (parameter == nullptr || parameter->GetTypeStr() != variable) continue;
    if (inputs[i] != nullptr && inputs[i]->element_type() != 0) return inputs[i]->element_type();
  }
  return 0;
}

int32_t only_allowed(const Formal& parameter) {
  const auto& allowed = parameter.GetTypes();
  if (allowed.size() != 1) return 0;
  const onnx::TypeProto& type = onnx::Utils::DataTypeUtils::ToTypeProto(*allowed.begin());
  return type.has_tensor_type() ? type.tensor_type().elem_type() : 0;
}

// An output that has not the type of its operator's first input, or is not the first.
struct Exception {
  std::string_view op;
  size_t output;
  int32_t type;  // UNDEFINED: that of the input
  size_t input = 0;
};

// https://github.com/microsoft/onnxruntime/blob/main/docs/ContribOperators.md
constexpr Exception kExceptions[] = {
    {"BifurcationDetector", 1, TensorProto::INT64},
    {"DynamicTimeWarping", 0, TensorProto::INT32},
    {"EmbedLayerNormalization", 0, TensorProto::UNDEFINED, 2},
    {"EmbedLayerNormalization", 1, TensorProto::INT32},
    {"EmbedLayerNormalization", 2, TensorProto::UNDEFINED, 2},
    {"NGramRepeatBlock", 0, TensorProto::UNDEFINED, 1},
    {"QAttention", 0, TensorProto::FLOAT},
    {"QAttention", 1, TensorProto::FLOAT},
    {"QLinearConcat", 0, TensorProto::UNDEFINED, 2},
    {"QLinearWhere", 0, TensorProto::UNDEFINED, 1},
    {"Unique", 1, TensorProto::INT64},
    {"Unique", 2, TensorProto::INT64},
    {"WordConvEmbedding", 0, TensorProto::UNDEFINED, 1},
};

int32_t type_of_input(std::span<const Value* const> inputs, size_t i) {
  return i < inputs.size() && inputs[i] != nullptr ? inputs[i]->element_type() : 0;
}

std::optional<int32_t> exception(std::span<const Exception> list, const std::string& op,
                                 std::span<const Value* const> inputs, size_t output) {
  for (const Exception& e : list) {
    if (e.op != op || e.output != output) continue;
    return e.type != TensorProto::UNDEFINED ? e.type : type_of_input(inputs, e.input);
  }
  return std::nullopt;
}

// What ONNX Runtime writes into models it has optimised: its blocked layout is there for float32
// alone; of its own operators all but those that quantise and the exceptions above keep the type of
// their first input. 0: not known.
int32_t type_in_engine(const NodeProto& node, const std::string& domain,
                       std::span<const Value* const> inputs, size_t output) {
  if (domain == "com.microsoft.nchwc") return TensorProto::FLOAT;
  if (domain != "com.microsoft") return 0;
  const std::string& op = node.op_type();
  if (const auto type = exception(kExceptions, op, inputs, output)) return *type;
  if (output != 0) return 0;
  if (op == "MurmurHash3") {
    return int_attribute(node, "positive", 1) != 0 ? TensorProto::UINT32 : TensorProto::INT32;
  }
  const bool has_scale = inputs.size() > 7 && inputs[7] != nullptr;
  if (op == "QGemm" && !has_scale) return TensorProto::FLOAT;
  const auto says = [&](const char* word) { return op.find(word) != std::string::npos; };
  if (says("Dequantize") || says("DynamicQuantize") || says("ToFloat")) return TensorProto::FLOAT;
  return says("Quantize") || says("Integer") ? 0 : type_of_input(inputs, 0);
}

// ONNX's own operators whose newest form libonnx 1.12 does not know, with a first output of the
// type of their first input, between spaces.
constexpr std::string_view kLikeFirst =
    " AffineGrid Attention BitwiseAnd BitwiseNot BitwiseOr BitwiseXor CenterCropPad Col2Im "
    "DeformConv Gelu GridSample GroupNormalization Mish RMSNormalization RotaryEmbedding Swish "
    "TensorScatter ";
constexpr Exception kNewerExceptions[] = {{"Attention", 1, TensorProto::UNDEFINED, 1},
                                          {"Attention", 2, TensorProto::UNDEFINED, 2},
                                          {"Attention", 3, TensorProto::UNDEFINED}};

int32_t type_of_newer(const std::string& op, std::span<const Value* const> inputs, size_t output) {
  if (const auto type = exception(kNewerExceptions, op, inputs, output)) return *type;
  return output == 0 && holds_word(kLikeFirst, op) ? type_of_input(inputs, 0) : 0;
}

}  // namespace

void infer_element_types(const NodeProto& node, std::span<const Value* const> inputs,
                         const Opsets& opsets, std::span<Value> outputs) {
  const std::string domain = is_default_domain(node.domain()) ? "" : node.domain();
  const auto version = opsets.find(domain);
  const OpSchema* schema = version == opsets.end() ? nullptr
                                                   : onnx::OpSchemaRegistry::Schema(
                                                         node.op_type(), version->second, domain);
  for (size_t i = 0; i < outputs.size(); ++i) {
    if (outputs[i].type.value_case() != onnx::TypeProto::VALUE_NOT_SET) continue;
    int32_t type = type_in_engine(node, domain, inputs, i);
    const Formal* parameter = schema != nullptr ? formal(schema->outputs(), i) : nullptr;
    if (type == 0 && parameter != nullptr) type = only_allowed(*parameter);
    if (type == 0 && parameter != nullptr) {
      type = element_type_of_inputs(inputs, *schema, parameter->GetTypeStr());
    }
    if (type == 0 && domain.empty()) type = type_of_newer(node.op_type(), inputs, i);
    if (type != 0) outputs[i].type.mutable_tensor_type()->set_elem_type(type);
  }
}

}  // namespace placeto
