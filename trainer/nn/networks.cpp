#include "trainer/nn/networks.h"

#include <algorithm>

#include "trainer/nn/exact.h"
#include "trainer/nn/learner.h"

namespace placeto::train {
namespace {

// Messages and pools are sums over up to hundreds of nodes, eight times in a row: in units of 1 the
// first logits are in the millions, and a step of Adam on what is summed moves every logit.
double unit_of(const std::string& name) {
  if (name == "encoder" || name == "head") return 1;
  if (name.starts_with("along") || name.starts_with("against")) return 0.1;
  return name.ends_with(".f") ? 0.02 : 1;
}

std::vector<uint32_t> shape_of(const torch::Tensor& tensor) {
  std::vector<uint32_t> shape;
  for (const int64_t size : tensor.sizes()) shape.push_back(static_cast<uint32_t>(size));
  return shape;
}

}  // namespace

Status can_learn_on(const std::string& processor) {
  if (!processor_named(processor).is_cuda() || torch::cuda::is_available()) return {};
  return Status::invalid(
      "learn.processor: LibTorch finds no GPU that it can compute on: expected one and a LibTorch "
      "built for CUDA, or \"cpu\"");
}

torch::Device processor_named(const std::string& name) {
  return name == "cuda" ? torch::kCUDA : torch::kCPU;
}

std::vector<float> floats_of(const torch::Tensor& tensor) {
  const torch::Tensor flat = tensor.detach().to(torch::kCPU).contiguous().flatten();
  return {flat.data_ptr<float>(), flat.data_ptr<float>() + flat.numel()};
}

void put_layer(const std::string& name, const torch::nn::Linear& layer, double unit, uint32_t grid,
               std::vector<PolicyTensor>& tensors) {
  const auto [of_outputs, bias] = weights_of(layer, unit, grid);
  const torch::Tensor weight = of_outputs.t();
  tensors.push_back({name + ".weight", shape_of(weight), floats_of(weight)});
  tensors.push_back({name + ".bias", shape_of(bias), floats_of(bias)});
}

void take_layer(std::span<const PolicyTensor>& tensors, double unit, torch::nn::Linear& layer) {
  const PolicyTensor &weight = tensors[0], &bias = tensors[1];
  layer->weight.copy_(torch::tensor(weight.data).view({weight.shape[0], weight.shape[1]}).t() /
                      unit);
  layer->bias.copy_(torch::tensor(bias.data) / unit);
  tensors = tensors.subspan(2);
}

torch::Tensor sparse(int64_t rows, int64_t columns, const std::vector<int64_t>& row,
                     const std::vector<int64_t>& column, const torch::Tensor& value) {
  const torch::Tensor index =
      torch::stack({torch::tensor(row, torch::kLong), torch::tensor(column, torch::kLong)});
  return torch::sparse_coo_tensor(index, value, {rows, columns}).coalesce();
}

Adjacency adjacency_of(int64_t nodes, const std::vector<int64_t>& sources,
                       const std::vector<int64_t>& targets) {
  const torch::Tensor ones = torch::ones({static_cast<int64_t>(sources.size())});
  return {sparse(nodes, nodes, targets, sources, ones),
          sparse(nodes, nodes, sources, targets, ones)};
}

DenseImpl::DenseImpl(const NetworkShape& shape, double unit, uint32_t grid)
    : relu_at_end_(shape.relu_at_end), unit_(exact_unit(unit, grid)), grid_(grid) {
  for (size_t i = 0; i + 1 < shape.widths.size(); ++i) {
    layers_.push_back(register_module(std::to_string(i),
                                      torch::nn::Linear(shape.widths[i], shape.widths[i + 1])));
    torch::nn::init::xavier_uniform_(layers_.back()->weight);
    torch::nn::init::zeros_(layers_.back()->bias);
  }
}

torch::Tensor DenseImpl::forward(torch::Tensor x) {
  for (size_t i = 0; i < layers_.size(); ++i) {
    const auto [weight, bias] = weights_of(layers_[i], unit_of(i), grid_);
    x = torch::linear(x, weight, bias);
    if (i + 1 < layers_.size() || relu_at_end_) x = torch::relu_(x);
    if (i + 1 < layers_.size()) x = snapped(x, grid_);
  }
  return x;
}

void DenseImpl::put(const std::string& name, std::vector<PolicyTensor>& tensors) const {
  for (size_t i = 0; i < layers_.size(); ++i) {
    put_layer(name + "." + std::to_string(i), layers_[i], unit_of(i), grid_, tensors);
  }
}

void DenseImpl::take(std::span<const PolicyTensor>& tensors) {
  for (size_t i = 0; i < layers_.size(); ++i) take_layer(tensors, unit_of(i), layers_[i]);
}

NetworksImpl::NetworksImpl(std::vector<NetworkShape> shapes, uint32_t grid)
    : shapes_(std::move(shapes)), grid_(grid) {
  for (const NetworkShape& shape : shapes_) {
    std::string name = shape.name;
    std::replace(name.begin(), name.end(), '.', '_');  // LibTorch keeps '.' for itself
    networks_.push_back(register_module(name, Dense(shape, unit_of(shape.name), grid)));
  }
}

Dense& NetworksImpl::network(const std::string& name) {
  const auto it = std::find_if(shapes_.begin(), shapes_.end(),
                               [&](const NetworkShape& shape) { return shape.name == name; });
  TORCH_CHECK(it != shapes_.end(), "no network ", name);
  return networks_[static_cast<size_t>(it - shapes_.begin())];
}

torch::Tensor NetworksImpl::heard(const torch::Tensor& x, const torch::Tensor& adjacency,
                                  const std::string& name) {
  const torch::Tensor messages =
      snapped(network(name + ".f")->forward(x), grid_).view({x.size(0), -1});
  const torch::Tensor sums = snapped(torch::mm(adjacency, messages), grid_);
  return network(name + ".g")->forward(sums.view(x.sizes()));
}

torch::Tensor NetworksImpl::embed(const torch::Tensor& features, const Adjacency& graph,
                                  uint32_t rounds) {
  torch::Tensor x = snapped(network("encoder")->forward(features), grid_);
  for (uint32_t round = 0; round < rounds; ++round) {
    x = snapped(x + heard(x, graph.along, "along"), grid_);
    x = snapped(x + heard(x, graph.against, "against"), grid_);
  }
  return x;
}

std::vector<PolicyTensor> NetworksImpl::tensors() const {
  std::vector<PolicyTensor> all;
  for (size_t n = 0; n < shapes_.size(); ++n) networks_[n]->put(shapes_[n].name, all);
  return all;
}

void NetworksImpl::take_tensors(std::span<const PolicyTensor>& tensors) {
  for (Dense& dense : networks_) dense->take(tensors);
}

bool NetworksImpl::has_shape() const {
  const std::vector<TensorShape> wanted = tensors_of(shapes_);
  const std::vector<PolicyTensor> given = tensors();
  return std::equal(wanted.begin(), wanted.end(), given.begin(), given.end(),
                    [](const TensorShape& w, const PolicyTensor& g) {
                      return w.name == g.name && w.shape == g.shape;
                    });
}

}  // namespace placeto::train
