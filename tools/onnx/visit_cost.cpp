#include "tools/onnx/visit_cost.h"

#include <algorithm>

#include "tools/onnx/bodies.h"
#include "tools/onnx/model.h"

namespace placeto {
namespace {

using onnx::AttributeProto;
using onnx::GraphProto;
using onnx::NodeProto;
using Nodes = google::protobuf::RepeatedPtrField<NodeProto>;

// Names inside subgraphs that are looked at in the time of one node.
constexpr uint64_t kWalkedPerNode = 64;
// Of a weight no more is read than a small constant has.
constexpr uint64_t kMostRead = 32 << 10;

struct Cost {
  uint64_t nodes = 0;
  uint64_t tensors = 0;  // their names, each time that one stands there
  uint64_t bytes = 0;
  uint64_t walked = 0;  // in subgraphs

  uint64_t in_nodes() const {
    return std::max(
        {nodes, tensors / kTensorsPerNode, bytes / kBytesPerNode, walked / kWalkedPerNode});
  }
};

uint64_t names_in(const GraphProto& graph) {
  auto names = static_cast<uint64_t>(graph.input_size()) +
               static_cast<uint64_t>(graph.output_size()) +
               static_cast<uint64_t>(graph.initializer_size()) +
               static_cast<uint64_t>(graph.sparse_initializer_size());
  for (const NodeProto& node : graph.node()) {
    names +=
        1 + static_cast<uint64_t>(node.input_size()) + static_cast<uint64_t>(node.output_size());
  }
  return names;
}

// Each name of a subgraph is looked for in it and in those around it, `level` graphs.
uint64_t walked_in(const GraphProto& graph, uint64_t level) {
  uint64_t walked = names_in(graph) * level;
  for (const NodeProto& node : graph.node()) {
    for_each_body(node, [&](const GraphProto& inner) { walked += walked_in(inner, level + 1); });
  }
  return walked;
}

uint64_t read_bytes(const onnx::TensorProto& tensor) {
  return std::min<uint64_t>(tensor.ByteSizeLong(), kMostRead);
}

uint64_t attribute_bytes(const NodeProto& node) {
  uint64_t bytes = 0;
  for (const AttributeProto& attribute : node.attribute()) {
    if (attribute.has_g() || attribute.graphs_size() > 0) continue;
    const bool weight = is_constant_node(node) && attribute.has_t();
    bytes += weight ? read_bytes(attribute.t()) : attribute.ByteSizeLong();
  }
  return bytes;
}

void add_nodes(const Nodes& nodes, Cost& cost) {
  const auto add_names = [&](const auto& names) {
    cost.tensors += static_cast<uint64_t>(names.size());
    for (const std::string& name : names) cost.bytes += name.size();
  };
  for (const NodeProto& node : nodes) {
    ++cost.nodes;
    add_names(node.input());
    add_names(node.output());
    cost.bytes += node.name().size() + node.op_type().size() + attribute_bytes(node);
    for_each_body(node, [&](const GraphProto& inner) { cost.walked += walked_in(inner, 1); });
  }
}

Cost cost_of(const GraphProto& graph) {
  Cost cost;
  add_nodes(graph.node(), cost);
  const auto add_tensors = [&](const auto& tensors, const auto& bytes_of) {
    cost.tensors += static_cast<uint64_t>(tensors.size());
    for (const auto& tensor : tensors) cost.bytes += bytes_of(tensor);
  };
  const auto whole = [](const auto& tensor) -> uint64_t { return tensor.ByteSizeLong(); };
  add_tensors(graph.initializer(), read_bytes);
  add_tensors(graph.sparse_initializer(), whole);
  add_tensors(graph.input(), whole);
  add_tensors(graph.output(), whole);
  add_tensors(graph.value_info(), whole);
  return cost;
}

uint64_t cost_with_subgraphs(const Nodes& nodes, Cost own) {
  uint64_t total = own.in_nodes();
  for (const NodeProto& node : nodes) {
    for_each_body(node, [&](const GraphProto& inner) {
      total += cost_with_subgraphs(inner.node(), cost_of(inner));
    });
  }
  return total;
}

}  // namespace

uint64_t visit_cost(const GraphProto& graph) {
  return cost_of(graph).in_nodes();
}

uint64_t visit_cost_of_all(const onnx::ModelProto& model) {
  uint64_t total = cost_with_subgraphs(model.graph().node(), cost_of(model.graph()));
  for (const onnx::FunctionProto& function : model.functions()) {
    Cost own;
    add_nodes(function.node(), own);
    total += cost_with_subgraphs(function.node(), own);
  }
  return total;
}

}  // namespace placeto
