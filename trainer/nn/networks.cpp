#include "trainer/nn/networks.h"

#include <algorithm>

namespace placeto::train {
namespace {

// Messages and pools are sums over up to hundreds of nodes, sixteen times in a row: with Glorot's
// weights alone the first logits are in the millions. The last layers of these networks start
// small, so that an embedding starts close to the encoder's and a policy close to uniform.
double first_scale(const std::string& name) {
  if (name == "encoder") return 1;
  if (name == "head") return 0.1;
  const bool message = name.starts_with("along") || name.starts_with("against");
  if (name.ends_with(".f")) return message ? 0.2 : 0.01;
  return message ? 0.2 : 1;
}

std::vector<uint32_t> shape_of(const torch::Tensor& tensor) {
  std::vector<uint32_t> shape;
  for (const int64_t size : tensor.sizes()) shape.push_back(static_cast<uint32_t>(size));
  return shape;
}

}  // namespace

std::vector<float> floats_of(const torch::Tensor& tensor) {
  const torch::Tensor flat = tensor.detach().to(torch::kCPU).contiguous().flatten();
  return {flat.data_ptr<float>(), flat.data_ptr<float>() + flat.numel()};
}

void put_layer(const std::string& name, const torch::nn::Linear& layer, double unit,
               std::vector<PolicyTensor>& tensors) {
  const torch::Tensor weight = layer->weight.t() * unit, bias = layer->bias * unit;
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

DenseImpl::DenseImpl(const std::vector<uint32_t>& widths) {
  for (size_t i = 0; i + 1 < widths.size(); ++i) {
    layers.push_back(
        register_module(std::to_string(i), torch::nn::Linear(widths[i], widths[i + 1])));
    torch::nn::init::xavier_uniform_(layers.back()->weight);
    torch::nn::init::zeros_(layers.back()->bias);
  }
}

torch::Tensor DenseImpl::forward(torch::Tensor x) {
  for (size_t i = 0; i < layers.size(); ++i) {
    x = layers[i]->forward(x);
    if (i + 1 < layers.size()) x = torch::relu_(x);
  }
  return x;
}

NetworksImpl::NetworksImpl(std::vector<NetworkShape> shapes) : shapes_(std::move(shapes)) {
  for (const NetworkShape& shape : shapes_) {
    std::string name = shape.name;
    std::replace(name.begin(), name.end(), '.', '_');  // LibTorch keeps '.' for itself
    networks_.push_back(register_module(name, Dense(shape.widths)));
    torch::NoGradGuard no_gradient;
    networks_.back()->layers.back()->weight.mul_(first_scale(shape.name));
  }
}

Dense& NetworksImpl::network(const std::string& name) {
  const auto it = std::find_if(shapes_.begin(), shapes_.end(),
                               [&](const NetworkShape& shape) { return shape.name == name; });
  TORCH_CHECK(it != shapes_.end(), "no network ", name);
  return networks_[static_cast<size_t>(it - shapes_.begin())];
}

// x_v <- g(sum over whom v hears of f(x_u)) + x_v. Addanki et al., section 3.2.
torch::Tensor NetworksImpl::exchange(const torch::Tensor& x, const torch::Tensor& adjacency,
                                     const std::string& name) {
  const torch::Tensor messages = network(name + ".f")->forward(x).view({x.size(0), -1});
  const torch::Tensor sums = torch::mm(adjacency, messages).view(x.sizes());
  return network(name + ".g")->forward(sums) + x;
}

torch::Tensor NetworksImpl::embed(const torch::Tensor& features, const Adjacency& graph,
                                  uint32_t rounds) {
  torch::Tensor x = network("encoder")->forward(features);
  for (uint32_t round = 0; round < rounds; ++round) {
    x = exchange(x, graph.along, "along");
    x = exchange(x, graph.against, "against");
  }
  return x;
}

std::vector<PolicyTensor> NetworksImpl::tensors() const {
  std::vector<PolicyTensor> all;
  for (size_t n = 0; n < shapes_.size(); ++n) {
    const auto& layers = networks_[n]->layers;
    for (size_t i = 0; i < layers.size(); ++i) {
      put_layer(shapes_[n].name + "." + std::to_string(i), layers[i], 1, all);
    }
  }
  return all;
}

void NetworksImpl::take_tensors(std::span<const PolicyTensor>& tensors) {
  for (Dense& dense : networks_) {
    for (torch::nn::Linear& layer : dense->layers) take_layer(tensors, 1, layer);
  }
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
