// PlacetoNet: the networks of a `placeto` policy in LibTorch, for all steps of an episode at once.
// The same functions as runtime/policy/placeto_network.h, which computes one step at a time; a test
// holds the two together. Private to the files that include LibTorch.
//
// Tensors of an episode of T steps on a graph of N nodes are [N, T, width]: message passing over
// all steps is then one product of the sparse N x N adjacency and an N x (T width) matrix.
#pragma once

#include <torch/torch.h>

#include <string>
#include <utility>
#include <vector>

#include "runtime/cost/problem.h"
#include "runtime/policy/policy_spec.h"

namespace placeto::train {

// What the networks need to know of a graph, whatever the placement.
struct GraphTensors {
  torch::Tensor along, against;        // N x N sparse: row v sums whom v hears
  torch::Tensor current;               // [T] the node that each step of a pass decides
  std::vector<torch::Tensor> members;  // ancestors, descendants, unrelated of it: [N, T] of 0 and 1
};
// The steps of a pass: one per group of the problem, in topological order of their first nodes.
GraphTensors graph_tensors(const Problem& problem);

// Layers of `widths`, ReLU between them. Named "0", "1", ...
struct DenseImpl : torch::nn::Module {
  explicit DenseImpl(const std::vector<uint32_t>& widths);
  torch::Tensor forward(torch::Tensor x);
  std::vector<torch::nn::Linear> layers;
};
TORCH_MODULE(Dense);

struct PlacetoNetImpl : torch::nn::Module {
  // `spec` says dimensions and features; its tensors do not matter. Weights are drawn by Glorot's
  // rule, last layers of sums scaled down; biases are 0.
  explicit PlacetoNetImpl(const PolicySpec& spec);

  // Logits [steps, devices] of the given steps of a pass; features: [N, steps, columns] as the
  // runtime records them.
  torch::Tensor forward(const torch::Tensor& features, const GraphTensors& graph,
                        const torch::Tensor& steps);

  // Weights as the tensors of a policy file.
  std::vector<PolicyTensor> tensors() const;
  // Every parameter has the shape that the spec asks for.
  bool has_shape() const;

 private:
  torch::Tensor exchange(torch::Tensor x, const torch::Tensor& adjacency, Dense& f, Dense& g) const;

  PolicySpec spec_;
  std::vector<std::pair<std::string, Dense>> networks_;  // in the order of networks_of()
  Dense& network(const std::string& name);
};
TORCH_MODULE(PlacetoNet);

}  // namespace placeto::train
