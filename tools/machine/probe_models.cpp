#include "tools/machine/probe_models.h"

#include <cmath>

#ifdef PLACETO_HAVE_ONNX
#include <onnx/onnx_pb.h>
#endif

namespace placeto {

std::string chain_tensor(uint32_t chain, uint32_t position) {
  return "t" + std::to_string(chain) + "_" + std::to_string(position);
}

#ifdef PLACETO_HAVE_ONNX
namespace {

onnx::ModelProto empty_model() {
  onnx::ModelProto model;
  model.set_ir_version(8);
  model.add_opset_import()->set_version(13);
  model.mutable_graph()->set_name("probe");
  return model;
}

void declare(onnx::ValueInfoProto& tensor, const std::string& name,
             std::initializer_list<uint64_t> shape) {
  tensor.set_name(name);
  auto* type = tensor.mutable_type()->mutable_tensor_type();
  type->set_elem_type(onnx::TensorProto::FLOAT);
  for (const uint64_t extent : shape) {
    type->mutable_shape()->add_dim()->set_dim_value(static_cast<int64_t>(extent));
  }
}

void add_node(onnx::GraphProto& graph, const char* op, std::initializer_list<std::string> inputs,
              const std::string& output) {
  auto& node = *graph.add_node();
  node.set_op_type(op);
  node.set_name(output);
  for (const std::string& input : inputs) node.add_input(input);
  node.add_output(output);
}

// n x n numbers of common size: some processors are slow with very small ones. Others for another
// `seed`: engines keep equal weights once.
void add_weight(onnx::GraphProto& graph, const std::string& name, uint64_t n, float scale,
                uint32_t seed) {
  auto& weight = *graph.add_initializer();
  weight.set_name(name);
  weight.set_data_type(onnx::TensorProto::FLOAT);
  weight.add_dims(static_cast<int64_t>(n));
  weight.add_dims(static_cast<int64_t>(n));
  for (uint64_t i = 0; i < n * n; ++i) {
    weight.add_float_data(scale * (static_cast<float>((i + seed) % 17) / 17 - 0.5f));
  }
}

}  // namespace

bool can_make_probes() {
  return true;
}

std::string product_probe(uint32_t n, uint32_t length) {
  onnx::ModelProto model = empty_model();
  onnx::GraphProto& graph = *model.mutable_graph();
  declare(*graph.add_input(), chain_tensor(0, 0), {n, n});
  add_weight(graph, "w", n, 1, 0);
  for (uint32_t i = 0; i < length; ++i) {
    add_node(graph, "MatMul", {chain_tensor(0, i), "w"}, chain_tensor(0, i + 1));
  }
  declare(*graph.add_output(), chain_tensor(0, length), {n, n});
  return model.SerializeAsString();
}

std::string addition_probe(uint64_t count, uint32_t length) {
  onnx::ModelProto model = empty_model();
  onnx::GraphProto& graph = *model.mutable_graph();
  declare(*graph.add_input(), chain_tensor(0, 0), {count});
  declare(*graph.add_input(), "b", {count});
  for (uint32_t i = 0; i < length; ++i) {
    add_node(graph, "Add", {chain_tensor(0, i), "b"}, chain_tensor(0, i + 1));
  }
  declare(*graph.add_output(), chain_tensor(0, length), {count});
  return model.SerializeAsString();
}

std::string chain_probe(uint32_t first, uint32_t length, uint32_t width, uint64_t count) {
  onnx::ModelProto model = empty_model();
  onnx::GraphProto& graph = *model.mutable_graph();
  for (uint32_t c = 0; c < width; ++c) {
    declare(*graph.add_input(), chain_tensor(c, first), {count});
    for (uint32_t i = first; i < first + length; ++i) {
      add_node(graph, "Neg", {chain_tensor(c, i)}, chain_tensor(c, i + 1));
    }
    declare(*graph.add_output(), chain_tensor(c, first + length), {count});
  }
  return model.SerializeAsString();
}

std::string working_chain_probe(uint32_t first, uint32_t length, uint64_t count) {
  onnx::ModelProto model = empty_model();
  onnx::GraphProto& graph = *model.mutable_graph();
  declare(*graph.add_input(), chain_tensor(0, first), {1, count});
  for (uint32_t i = first; i < first + length; ++i) {
    const std::string weight = "w" + std::to_string(i);
    // A sum of `count` products of either sign is about that much larger than one.
    add_weight(graph, weight, count, 3 / std::sqrt(static_cast<float>(count)), i);
    add_node(graph, "MatMul", {chain_tensor(0, i), weight}, chain_tensor(0, i + 1));
  }
  declare(*graph.add_output(), chain_tensor(0, first + length), {1, count});
  return model.SerializeAsString();
}

#else

bool can_make_probes() {
  return false;
}
std::string product_probe(uint32_t, uint32_t) {
  return "";
}
std::string addition_probe(uint64_t, uint32_t) {
  return "";
}
std::string chain_probe(uint32_t, uint32_t, uint32_t, uint64_t) {
  return "";
}
std::string working_chain_probe(uint32_t, uint32_t, uint64_t) {
  return "";
}

#endif

}  // namespace placeto
