#include "tools/onnx/rules.h"

#include "tools/onnx/shape_rules.h"

namespace placeto {
namespace shape_rules {
namespace {

using onnx::NodeProto;
using onnx::TensorProto;

// --- one output like the first input

bool same_as_first(const NodeProto&, Inputs inputs, Outputs outputs) {
  const Value* x = known(inputs, 0);
  if (x == nullptr) return false;
  set(outputs, 0, x->element_type(), *x->dims());
  return true;
}

// y, and the mean and inverse deviation that training wants, one per normalized row.
bool normalization(const NodeProto& node, Inputs inputs, Outputs outputs) {
  if (!same_as_first(node, inputs, outputs)) return false;
  Dims rows = *inputs[0]->dims();
  const auto axis = resolve_axis(int_attribute(node, "axis", -1), rows.size());
  if (!axis) return true;
  for (size_t a = *axis; a < rows.size(); ++a) rows[a] = 1;
  set(outputs, 1, TensorProto::FLOAT, rows);
  set(outputs, 2, TensorProto::FLOAT, rows);
  return true;
}

// SkipLayerNormalization: the fourth output is the sum before normalization.
bool skip_normalization(const NodeProto& node, Inputs inputs, Outputs outputs) {
  if (!normalization(node, inputs, outputs)) return false;
  set(outputs, 3, inputs[0]->element_type(), *inputs[0]->dims());
  return true;
}

// --- elementwise on two operands; where: on three, the first a condition

bool elementwise_type(Inputs inputs, std::span<const size_t> operands, int32_t type, Outputs out) {
  Dims dims;
  for (size_t i : operands) {
    if (!given(inputs, i)) continue;
    const Value* x = known(inputs, i);
    const auto together = x != nullptr ? broadcast(dims, *x->dims()) : std::nullopt;
    if (!together) return false;
    dims = *together;
  }
  set(out, 0, type, dims);
  return true;
}

bool elementwise(const NodeProto&, Inputs inputs, Outputs outputs) {
  constexpr size_t kOperands[] = {0, 1};
  return given(inputs, 0) &&
         elementwise_type(inputs, kOperands, inputs[0]->element_type(), outputs);
}

bool comparison(const NodeProto&, Inputs inputs, Outputs outputs) {
  constexpr size_t kOperands[] = {0, 1};
  return given(inputs, 0) && elementwise_type(inputs, kOperands, TensorProto::BOOL, outputs);
}

// QLinearWhere(condition, x, x_scale, x_zero, y, ...)
bool quantized_choice(const NodeProto&, Inputs inputs, Outputs outputs) {
  constexpr size_t kOperands[] = {0, 1, 4};
  return given(inputs, 1) &&
         elementwise_type(inputs, kOperands, inputs[1]->element_type(), outputs);
}

// The second output, where there is one, is a sum of the same shape.
bool same_and_sum(const NodeProto& node, Inputs inputs, Outputs outputs) {
  if (!same_as_first(node, inputs, outputs)) return false;
  set(outputs, 1, inputs[0]->element_type(), *inputs[0]->dims());
  return true;
}

// QLinearAdd(a, a_scale, a_zero, b, b_scale, b_zero, ...)
bool quantized_elementwise(const NodeProto&, Inputs inputs, Outputs outputs) {
  constexpr size_t kOperands[] = {0, 3};
  return given(inputs, 0) &&
         elementwise_type(inputs, kOperands, inputs[0]->element_type(), outputs);
}

// Operators whose newest form libonnx 1.12 (opset 17) does not know, or gets less from.
const Rules& default_rules() {
  static const Rules table = [] {
    Rules all = {{"LayerNormalization", normalization},
                 {"RMSNormalization", normalization},
                 {"SimplifiedLayerNormalization", normalization},  // ONNX Runtime's, in this domain
                 {"GreaterOrEqual", comparison},
                 {"LessOrEqual", comparison},
                 {"BitwiseAnd", elementwise},
                 {"BitwiseOr", elementwise},
                 {"BitwiseXor", elementwise}};
    for (const char* name :
         {"Gelu", "Mish", "Swish", "HardSwish", "GroupNormalization", "RotaryEmbedding",
          "BitwiseNot", "TensorScatter", "MeanVarianceNormalization"}) {
      all[name] = same_as_first;
    }
    add_attention(all);
    add_axes(all);
    add_elements(all);
    add_layouts(all);
    add_products(all);
    add_images(all);
    add_signals(all);
    add_windows(all);
    return all;
  }();
  return table;
}

// https://github.com/microsoft/onnxruntime/blob/main/docs/ContribOperators.md
const Rules& microsoft_rules() {
  static const Rules table = [] {
    Rules all = {{"SimplifiedLayerNormalization", normalization},
                 {"SkipLayerNormalization", skip_normalization},
                 {"SkipSimplifiedLayerNormalization", skip_normalization},
                 {"QLinearAdd", quantized_elementwise},
                 {"QLinearMul", quantized_elementwise},
                 {"QLinearWhere", quantized_choice},
                 {"SkipGroupNorm", same_and_sum},
                 {"BiasDropout", same_and_sum}};
    for (const char* name : {"Gelu", "FastGelu", "QuickGelu", "BiasGelu", "BiasSoftmax",
                             "QLinearSigmoid", "QLinearLeakyRelu", "QLinearSoftmax",
                             "RotaryEmbedding", "BiasAdd", "GroupNorm", "MoE", "QMoE", "Trilu"}) {
      all[name] = same_as_first;
    }
    add_microsoft_attention(all);
    add_microsoft_axes(all);
    add_microsoft_elements(all);
    add_microsoft_products(all);
    add_microsoft_windows(all);
    return all;
  }();
  return table;
}

// https://onnx.ai/onnx/operators/#ai-onnx-ml
const Rules& learning_rules() {
  static const Rules table = [] {
    Rules all = {{"Imputer", same_as_first}};
    add_learning_elements(all);
    return all;
  }();
  return table;
}

const Rules& blocked_rules() {
  static const Rules table = [] {
    Rules all;
    add_blocked(all);
    return all;
  }();
  return table;
}

const Rules* rules_of(const std::string& domain) {
  if (is_default_domain(domain)) return &default_rules();
  if (domain == "com.microsoft") return &microsoft_rules();
  if (domain == "ai.onnx.ml") return &learning_rules();
  return domain == "com.microsoft.nchwc" ? &blocked_rules() : nullptr;
}

}  // namespace
}  // namespace shape_rules

bool apply_shape_rule(const onnx::NodeProto& node, std::span<const Value* const> inputs,
                      std::span<Value> outputs) {
  const shape_rules::Rules* rules = shape_rules::rules_of(node.domain());
  if (rules == nullptr) return false;
  const auto rule = rules->find(node.op_type());
  return rule != rules->end() && rule->second(node, inputs, outputs);
}

}  // namespace placeto
