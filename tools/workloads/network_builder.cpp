#include "tools/workloads/network_builder.h"

#include <algorithm>

#include "runtime/base/saturating.h"

namespace placeto {
namespace {

// Values kept for each trainable parameter in training, itself included.
uint64_t values_per_parameter(Optimizer optimizer) {
  switch (optimizer) {
    case Optimizer::kAdam:
      return 3;
    case Optimizer::kMomentum:
      return 2;
    case Optimizer::kSgd:
      return 1;
  }
  return 1;
}

Status check_size(const GraphSpec& graph) {
  const Limits limits;
  uint64_t bytes = 0, largest_flops = 0;
  for (const NodeSpec& node : graph.nodes) {
    bytes = saturating_add(bytes, saturating_add(node.resident_bytes, node.workspace_bytes));
    for (uint64_t output : node.outputs) bytes = saturating_add(bytes, output);
    bytes = std::max(bytes, node.bytes_accessed);
    largest_flops = std::max(largest_flops, node.flops);
  }
  if (bytes >= kMostSize || largest_flops >= kMostSize) {
    return Status::invalid(
        "the graph would have tensors or operators beyond 2^62 bytes or "
        "floating-point operations, expected smaller options");
  }
  if (graph.nodes.size() > limits.max_nodes || graph.edges.size() > limits.max_edges) {
    return Status::invalid("the graph would have " + std::to_string(graph.nodes.size()) +
                           " nodes and " + std::to_string(graph.edges.size()) +
                           " edges, expected at most " + std::to_string(limits.max_nodes) +
                           " and " + std::to_string(limits.max_edges));
  }
  return {};
}

}  // namespace

uint64_t product(std::initializer_list<uint64_t> factors) {
  uint64_t result = 1;
  for (uint64_t f : factors) result = saturating_product(result, f);
  return result;
}

uint64_t elements(const Shape& shape) {
  uint64_t result = 1;
  for (uint64_t size : shape) result = product({result, size});
  return result;
}

Variable NetworkBuilder::variable(std::string name, uint64_t count, bool trainable) {
  const auto id = static_cast<uint32_t>(variables_.size());
  variables_.push_back({std::move(name), count, trainable, 0, id});
  return {id};
}

std::vector<Tensor> NetworkBuilder::record(OperatorSpec spec) {
  const auto node = static_cast<uint32_t>(operators_.size());
  bool needs_gradient = false;
  for (Tensor t : spec.inputs) needs_gradient |= tensors_[t.id].needs_gradient;
  for (Variable v : spec.variables) {
    VariableInfo& info = variables_[v.id];
    needs_gradient |= info.trainable;
    ++info.users;
    const uint32_t a = root(spec.variables[0].id), b = root(v.id);
    variables_[std::max(a, b)].parent = std::min(a, b);
  }
  std::vector<Tensor> outputs;
  for (OutputSpec& output : spec.outputs) {
    const uint64_t size = product({elements(output.shape), output.element_bytes});
    outputs.push_back({static_cast<uint32_t>(tensors_.size())});
    tensors_.push_back({std::move(output.shape), size, node,
                        static_cast<uint32_t>(outputs.size() - 1), needs_gradient});
  }
  operators_.push_back(std::move(spec));
  produced_.push_back(outputs);
  backward_.emplace_back();
  return outputs;
}

uint32_t NetworkBuilder::root(uint32_t variable) {
  while (variables_[variable].parent != variable) {
    variables_[variable].parent = variables_[variables_[variable].parent].parent;
    variable = variables_[variable].parent;
  }
  return variable;
}

std::string NetworkBuilder::colocation_key(const std::vector<Variable>& variables) {
  if (variables.empty()) return {};
  const auto shared = [this](Variable v) { return variables_[v.id].users > 1; };
  if (!training_ && std::none_of(variables.begin(), variables.end(), shared)) return {};
  return variables_[root(variables[0].id)].name;
}

uint64_t NetworkBuilder::bytes(const std::vector<Variable>& variables) const {
  uint64_t sum = 0;
  for (Variable v : variables) {
    sum = saturating_add(sum, product({variables_[v.id].count, kFloatBytes}));
  }
  return sum;
}

void NetworkBuilder::connect(GraphSpec& graph, uint32_t source, uint32_t output,
                             uint32_t target) const {
  // All edges into a node are written together, so a duplicate stands near the end.
  const EdgeSpec edge{source, output, target};
  for (auto e = graph.edges.rbegin(); e != graph.edges.rend() && e->target == target; ++e) {
    if (*e == edge) return;
  }
  graph.edges.push_back(edge);
}

// Resident bytes: each variable on the first operator that uses it.
void NetworkBuilder::place_variables(GraphSpec& graph) {
  std::vector<bool> placed(variables_.size(), false);
  for (size_t i = 0; i < operators_.size(); ++i) {
    for (Variable v : operators_[i].variables) {
      if (placed[v.id]) continue;
      placed[v.id] = true;
      const uint64_t values =
          training_ && variables_[v.id].trainable ? values_per_parameter(optimizer_) : 1;
      graph.nodes[i].resident_bytes = saturating_add(
          graph.nodes[i].resident_bytes, product({variables_[v.id].count, kFloatBytes, values}));
    }
  }
}

Result<GraphSpec> NetworkBuilder::finish() {
  GraphSpec graph;
  graph.name = name_;
  for (uint32_t i = 0; i < operators_.size(); ++i) {
    const OperatorSpec& op = operators_[i];
    NodeSpec node;
    node.name = op.name;
    node.op = op.op;
    node.flops = op.flops;
    node.colocate = colocation_key(op.variables);
    uint64_t moved = bytes(op.variables);
    for (Tensor t : produced_[i]) {
      node.outputs.push_back(tensors_[t.id].bytes);
      moved = saturating_add(moved, tensors_[t.id].bytes);
    }
    for (Tensor t : op.inputs) {
      moved = saturating_add(moved, tensors_[t.id].bytes);
      connect(graph, tensors_[t.id].node, tensors_[t.id].output, i);
    }
    node.bytes_accessed = op.bytes_accessed != 0 ? op.bytes_accessed : moved;
    graph.nodes.push_back(std::move(node));
  }
  place_variables(graph);
  if (training_) differentiate(graph);
  if (Status s = check_size(graph); !s.ok()) return s.at(name_);
  return graph;
}

}  // namespace placeto
