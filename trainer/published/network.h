// PlacetoNet: the networks of a `placeto` policy in LibTorch, for all steps of an episode at once.
// The same functions as runtime/policy/published/network.h, which computes one step at a time and
// says what they are; a test holds the two together. Private to the files that include LibTorch.
//
// Tensors of an episode of T steps on a graph of N nodes are [N, T, width]: message passing over
// all steps is then one product of the sparse N x N adjacency and an N x (T width) matrix.
#pragma once

#include <vector>

#include "runtime/cost/problem.h"
#include "trainer/nn/networks.h"

namespace placeto::train {

// What the networks need to know of a graph, whatever the placement.
struct GraphTensors {
  Adjacency adjacency;
  torch::Tensor hears_along, hears_against;  // [N, 1, 1] 1: it has predecessors, successors
  torch::Tensor current;                     // [T] the node that each step of a pass decides
  std::vector<torch::Tensor> members;  // ancestors, descendants, unrelated of it: [N, T] of 0 and 1
  GraphTensors on(torch::Device processor) const;
};
// The steps of a pass: one per group of the problem, in topological order of their first nodes.
GraphTensors graph_tensors(const Problem& problem);

struct PlacetoNetImpl : NetworksImpl {
  // `spec` says dimensions and features; its tensors do not matter.
  explicit PlacetoNetImpl(const PolicySpec& spec);

  // Logits [steps, devices] of the given steps of a pass; features: [N, steps, columns] as the
  // runtime records them.
  torch::Tensor forward(const torch::Tensor& features, const GraphTensors& graph,
                        const torch::Tensor& steps);

 private:
  torch::Tensor normalised(const torch::Tensor& features) const;
  torch::Tensor pass_messages(const torch::Tensor& encoding, const torch::Tensor& adjacency,
                              const torch::Tensor& hears, const std::string& name);

  std::vector<PolicyFeature> features_;
  PolicyDimensions dimensions_;
};
TORCH_MODULE(PlacetoNet);

}  // namespace placeto::train
