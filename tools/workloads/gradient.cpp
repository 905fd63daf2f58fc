// Reverse-mode differentiation of a recorded network: visit the operators last to first, turn the
// gradients of their outputs into gradients of their inputs and variables, and sum where a tensor
// or variable has several users. Griewank and Walther, "Evaluating Derivatives", chapter 3.
//
// Sums are chains of pairwise additions in the order in which the terms appear, not one addition
// of all of them: a recurrent network would otherwise keep one gradient of its weights for each
// time step until the last has come.
#include <algorithm>

#include "tools/workloads/network_builder.h"

namespace placeto {
namespace {

// Operations of an update for each parameter, and values it reads and writes beside the gradient
// (the parameter and the optimizer's state, each read and written once).
struct UpdateCost {
  const char* op;
  uint64_t flops, values;
};

UpdateCost update_cost(Optimizer optimizer) {
  switch (optimizer) {
    case Optimizer::kAdam:
      return {"ApplyAdam", 12, 6};
    case Optimizer::kMomentum:
      return {"ApplyMomentum", 4, 4};
    case Optimizer::kSgd:
      return {"ApplyGradientDescent", 2, 2};
  }
  return {"ApplyGradientDescent", 2, 2};
}

}  // namespace

std::vector<NetworkBuilder::Gradient> NetworkBuilder::output_gradients(uint32_t op) const {
  std::vector<Gradient> gradients;
  for (Tensor t : produced_[op]) {
    if (tensor_gradient_[t.id].node != kNoIndex) gradients.push_back(tensor_gradient_[t.id]);
  }
  return gradients;
}

NetworkBuilder::Gradient NetworkBuilder::accumulate(GraphSpec& graph, Gradient sum, Gradient term,
                                                    const std::string& name,
                                                    const std::string& key) const {
  if (sum.node == kNoIndex) return term;
  const auto id = static_cast<uint32_t>(graph.nodes.size());
  const uint64_t size = std::max(sum.bytes, term.bytes);  // sparse plus dense is dense
  NodeSpec node;
  node.name = "grad/" + name + "/sum_" + std::to_string(id);
  node.op = "Add";
  node.outputs = {size};
  node.flops = size / kFloatBytes;
  node.bytes_accessed = sum.bytes + term.bytes + size;
  node.colocate = key;
  graph.nodes.push_back(std::move(node));
  connect(graph, sum.node, sum.output, id);
  connect(graph, term.node, term.output, id);
  return {id, 0, size};
}

// The node without its edges: outputs are the gradients of `targets`, then of its variables.
NodeSpec NetworkBuilder::backward_node(uint32_t op, size_t which,
                                       const std::vector<Tensor>& targets,
                                       const std::vector<Gradient>& incoming) {
  const BackwardNode& backward = backward_[op][which];
  std::vector<Variable> touched = backward.reads;
  touched.insert(touched.end(), backward.variables.begin(), backward.variables.end());
  NodeSpec node;
  node.name = "grad/" + operators_[op].name;
  if (backward_[op].size() > 1) node.name += "/" + std::to_string(which);
  node.op = backward.op;
  node.flops = backward.flops;
  node.colocate = colocation_key(touched);
  for (Tensor t : targets) node.outputs.push_back(tensors_[t.id].bytes);
  for (Variable v : backward.variables) {
    node.outputs.push_back(backward.sparse_bytes != 0 ? backward.sparse_bytes : bytes({v}));
  }
  node.bytes_accessed = bytes(backward.reads);
  for (uint64_t output : node.outputs) node.bytes_accessed += output;
  for (const Gradient& g : incoming) node.bytes_accessed += g.bytes;
  for (Tensor t : backward.saved) node.bytes_accessed += tensors_[t.id].bytes;
  return node;
}

void NetworkBuilder::emit_backward(GraphSpec& graph, uint32_t op, size_t which,
                                   const std::vector<Gradient>& incoming) {
  const BackwardNode& backward = backward_[op][which];
  std::vector<Tensor> targets;
  for (uint32_t i : backward.inputs) {
    const Tensor t = operators_[op].inputs[i];
    if (tensors_[t.id].needs_gradient) targets.push_back(t);
  }
  if (targets.empty() && backward.variables.empty()) return;
  const auto id = static_cast<uint32_t>(graph.nodes.size());
  graph.nodes.push_back(backward_node(op, which, targets, incoming));
  for (const Gradient& g : incoming) connect(graph, g.node, g.output, id);
  for (Tensor t : backward.saved) connect(graph, tensors_[t.id].node, tensors_[t.id].output, id);

  const std::vector<uint64_t> sizes = graph.nodes[id].outputs;
  uint32_t output = 0;
  for (Tensor t : targets) {
    Gradient& sum = tensor_gradient_[t.id];
    const std::string name = operators_[tensors_[t.id].node].name;
    sum = accumulate(graph, sum, {id, output, sizes[output]}, name, "");
    ++output;
  }
  for (Variable v : backward.variables) {
    Gradient& sum = variable_gradient_[v.id];
    sum = accumulate(graph, sum, {id, output, sizes[output]}, variables_[v.id].name,
                     colocation_key({v}));
    ++output;
  }
}

void NetworkBuilder::emit_update(GraphSpec& graph, uint32_t variable) {
  const Gradient& gradient = variable_gradient_[variable];
  if (gradient.node == kNoIndex) return;
  const UpdateCost cost = update_cost(optimizer_);
  // A sparse gradient touches as many values as it holds.
  const uint64_t touched = std::min(gradient.bytes, bytes({Variable{variable}}));
  const auto id = static_cast<uint32_t>(graph.nodes.size());
  NodeSpec node;
  node.name = "update/" + variables_[variable].name;
  node.op = cost.op;
  node.flops = product({touched / kFloatBytes, cost.flops});
  node.bytes_accessed = gradient.bytes + product({touched, cost.values});
  node.colocate = colocation_key({Variable{variable}});
  graph.nodes.push_back(std::move(node));
  connect(graph, gradient.node, gradient.output, id);
}

void NetworkBuilder::differentiate(GraphSpec& graph) {
  tensor_gradient_.assign(tensors_.size(), {});
  variable_gradient_.assign(variables_.size(), {});
  for (uint32_t op = static_cast<uint32_t>(operators_.size()); op-- > 0;) {
    const OperatorSpec& forward = operators_[op];
    const std::vector<Gradient> incoming = output_gradients(op);
    if (incoming.empty() && !forward.loss) continue;
    if (forward.passes_gradient) {
      for (Tensor t : forward.inputs) {
        if (!tensors_[t.id].needs_gradient) continue;
        const std::string& name = operators_[tensors_[t.id].node].name;
        tensor_gradient_[t.id] = accumulate(graph, tensor_gradient_[t.id], incoming[0], name, "");
      }
      continue;
    }
    for (size_t b = 0; b < backward_[op].size(); ++b) emit_backward(graph, op, b, incoming);
  }
  for (uint32_t v = 0; v < variables_.size(); ++v) {
    if (variables_[v].trainable) emit_update(graph, v);
  }
}

}  // namespace placeto
