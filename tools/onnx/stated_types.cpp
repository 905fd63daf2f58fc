#include "tools/onnx/stated_types.h"

namespace placeto {
namespace {

void add(const google::protobuf::RepeatedPtrField<onnx::ValueInfoProto>& tensors,
         StatedTypes& stated) {
  for (const auto& tensor : tensors) stated[tensor.name()] = &tensor.type();
}

bool is_sensible(const onnx::TypeProto& type, int depth) {
  constexpr int kMaxTypeDepth = 4;
  if (depth > kMaxTypeDepth) return false;
  if (type.has_tensor_type()) {
    return type.tensor_type().shape().dim_size() <= static_cast<int>(kMaxRank);
  }
  if (type.has_sparse_tensor_type()) {
    return type.sparse_tensor_type().shape().dim_size() <= static_cast<int>(kMaxRank);
  }
  if (type.has_sequence_type()) return is_sensible(type.sequence_type().elem_type(), depth + 1);
  if (type.has_optional_type()) return is_sensible(type.optional_type().elem_type(), depth + 1);
  if (type.has_map_type()) return is_sensible(type.map_type().value_type(), depth + 1);
  return true;
}

}  // namespace

StatedTypes stated_types(const onnx::GraphProto& graph) {
  StatedTypes stated;
  add(graph.output(), stated);
  add(graph.value_info(), stated);
  return stated;
}

bool is_sensible(const onnx::TypeProto& type) {
  return is_sensible(type, 0);
}

void complete_from(const onnx::TypeProto& said, Value& value) {
  if (value.type.value_case() == onnx::TypeProto::VALUE_NOT_SET) {
    value.type = said;
    return;
  }
  if (!value.is_tensor() || !said.has_tensor_type()) return;
  auto* tensor = value.type.mutable_tensor_type();
  if (tensor->elem_type() == 0) tensor->set_elem_type(said.tensor_type().elem_type());
  if (!said.tensor_type().has_shape()) return;
  if (!tensor->has_shape()) *tensor->mutable_shape() = said.tensor_type().shape();
  if (tensor->shape().dim_size() != said.tensor_type().shape().dim_size()) return;
  for (int a = 0; a < tensor->shape().dim_size(); ++a) {
    if (!tensor->shape().dim(a).has_dim_value()) {
      *tensor->mutable_shape()->mutable_dim(a) = said.tensor_type().shape().dim(a);
    }
  }
}

}  // namespace placeto
