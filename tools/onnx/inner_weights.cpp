#include "tools/onnx/inner_weights.h"

#include <algorithm>

#include "runtime/base/saturating.h"
#include "tools/onnx/bodies.h"
#include "tools/onnx/functions.h"
#include "tools/onnx/value.h"

namespace placeto {

using onnx::GraphProto;
using onnx::NodeProto;

void add(Weights& total, const Weights& more) {
  total.elements = saturating_add(total.elements, more.elements);
  total.bytes = saturating_add(total.bytes, more.bytes);
  total.external_bytes = saturating_add(total.external_bytes, more.external_bytes);
}

static Weights weights_of(const Value& value, bool external) {
  const uint64_t bytes = value_bytes(value).value_or(0);
  return {.elements = element_count(value.dims().value_or(Dims{})).value_or(0),
          .bytes = bytes,
          .external_bytes = external ? bytes : 0};
}

Weights weights_of(const onnx::TensorProto& tensor) {
  return weights_of(value_of(tensor), tensor.data_location() == onnx::TensorProto::EXTERNAL);
}

Weights weights_of(const onnx::SparseTensorProto& tensor) {
  Weights weights = weights_of(tensor.values());
  weights.bytes = saturating_add(weights.bytes, weights_of(tensor.indices()).bytes);
  return weights;
}

Weights weights_of_constant(const NodeProto& node) {
  for (const auto& attribute : node.attribute()) {
    if (!attribute.ref_attr_name().empty()) return {};
  }
  const auto* tensor = find_attribute(node, "value");
  return tensor != nullptr ? weights_of(tensor->t()) : weights_of(constant_value(node), false);
}

InnerWeights::InnerWeights(const onnx::ModelProto& model) {
  for (const auto& function : model.functions()) functions_[function_key(function)] = &function;
}

Weights InnerWeights::of(const NodeProto& node) {
  Weights total = of_call(node);
  for_each_body(node, [&](const GraphProto& body) { add(total, of_graph(body)); });
  return total;
}

Weights InnerWeights::counted(const Weights& weights) {
  add(distinct_, weights);
  return weights;
}

Weights InnerWeights::of_any(const NodeProto& node) {
  return is_constant_node(node) ? counted(weights_of_constant(node)) : of(node);
}

Weights InnerWeights::of_graph(const GraphProto& graph) {
  Weights total;
  for (const auto& tensor : graph.initializer()) add(total, counted(weights_of(tensor)));
  for (const auto& tensor : graph.sparse_initializer()) add(total, counted(weights_of(tensor)));
  for (const NodeProto& node : graph.node()) add(total, of_any(node));
  return total;
}

// Tensors that the call gives the function, and those of the function's body, which are added up
// once. Functions that call each other in a circle have nothing more, and neither have those that
// are so deep inside each other that analyze refuses to visit them.
Weights InnerWeights::of_call(const NodeProto& node) {
  constexpr int kMostDepth = 64;
  const std::string key = function_key(node);
  const auto function = functions_.find(key);
  if (function == functions_.end()) return {};
  Weights total;
  for (const auto& attribute : node.attribute()) {
    if (attribute.has_t()) add(total, counted(weights_of(attribute.t())));
  }
  const auto [known, is_new] = known_.try_emplace(key);
  if (is_new && depth_ < kMostDepth) {
    ++depth_;
    Weights body;
    for (const NodeProto& inner : function->second->node()) add(body, of_any(inner));
    --depth_;
    known_[key] = body;
  }
  add(total, known_[key]);
  return total;
}

}  // namespace placeto
