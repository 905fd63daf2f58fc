// What both architectures are built from in LibTorch: the same functions as
// runtime/policy/net/network.h. Private to the files that include LibTorch.
#pragma once

#include <torch/torch.h>

#include <span>
#include <string>
#include <vector>

#include "runtime/policy/file/architecture.h"
#include "runtime/policy/file/policy_spec.h"

namespace placeto::train {

// Where LibTorch computes, by its name in learn.processor.
torch::Device processor_named(const std::string& name);

// Values of a tensor in row-major order.
std::vector<float> floats_of(const torch::Tensor& tensor);

// A fully connected layer as the tensors of a policy file, outputs times `unit`, rounded where grid
// is above 0 (exact.h); and back.
void put_layer(const std::string& name, const torch::nn::Linear& layer, double unit, uint32_t grid,
               std::vector<PolicyTensor>& tensors);
// Takes the tensors from the front; they have the layer's shape.
void take_layer(std::span<const PolicyTensor>& tensors, double unit, torch::nn::Linear& layer);

// Row v of a sparse [rows, columns] matrix sums what it lists; entries are (row, column, value).
// Equal entries add up: two edges between the same nodes carry two messages.
torch::Tensor sparse(int64_t rows, int64_t columns, const std::vector<int64_t>& row,
                     const std::vector<int64_t>& column, const torch::Tensor& value);

// Who hears whom, N x N sparse: row v sums its predecessors (along) or its successors (against).
struct Adjacency {
  torch::Tensor along, against;
  Adjacency on(torch::Device processor) const {
    return {along.to(processor), against.to(processor)};
  }
};
Adjacency adjacency_of(int64_t nodes, const std::vector<int64_t>& sources,
                       const std::vector<int64_t>& targets);

// Layers of a shape, ReLU between them and, if it says so, at the end. Named "0", "1", ... Weights
// are drawn by Glorot's rule, biases are 0, and the last layer computes in `unit`: its outputs are
// multiplied by it, which makes them small at first, and keeps steps of the optimizer small.
struct DenseImpl : torch::nn::Module {
  // grid > 0: of an exact-sum network.
  DenseImpl(const NetworkShape& shape, double unit, uint32_t grid = 0);
  torch::Tensor forward(torch::Tensor x);
  // As the tensors of a policy file, and back.
  void put(const std::string& name, std::vector<PolicyTensor>& tensors) const;
  void take(std::span<const PolicyTensor>& tensors);

 private:
  double unit_of(size_t layer) const { return layer + 1 == layers_.size() ? unit_ : 1; }

  std::vector<torch::nn::Linear> layers_;
  bool relu_at_end_;
  double unit_;
  uint32_t grid_;
};
TORCH_MODULE(Dense);

// Networks of a policy by name (architecture.h).
struct NetworksImpl : torch::nn::Module {
  explicit NetworksImpl(std::vector<NetworkShape> shapes, uint32_t grid = 0);

  // For `pairwise`: embeddings [nodes, ..., embedding] from features [nodes, ..., columns]: the
  // encoder, then rounds of message passing along the edges and against them.
  torch::Tensor embed(const torch::Tensor& features, const Adjacency& graph, uint32_t rounds);

  // Weights as the tensors of a policy file, in the order of the shapes; and back.
  std::vector<PolicyTensor> tensors() const;
  void take_tensors(std::span<const PolicyTensor>& tensors);
  // Every parameter has the shape that was asked for.
  bool has_shape() const;

 protected:
  Dense& network(const std::string& name);
  // g(sum of f(x_u) over whom v hears), with the f and g of that name.
  torch::Tensor heard(const torch::Tensor& x, const torch::Tensor& adjacency,
                      const std::string& name);

 private:
  std::vector<NetworkShape> shapes_;
  uint32_t grid_;
  std::vector<Dense> networks_;  // in the order of shapes_
};
TORCH_MODULE(Networks);

}  // namespace placeto::train
