#include "trainer/placeto_network.h"

#include <algorithm>
#include <cmath>

#include "runtime/policy/architecture.h"
#include "runtime/policy/placeto_features.h"
#include "runtime/policy/placeto_reach.h"

namespace placeto::train {
namespace {

torch::Tensor adjacency(int64_t nodes, const std::vector<int64_t>& rows,
                        const std::vector<int64_t>& columns) {
  const torch::Tensor index =
      torch::stack({torch::tensor(rows, torch::kLong), torch::tensor(columns, torch::kLong)});
  const torch::Tensor ones = torch::ones({static_cast<int64_t>(rows.size())});
  // Equal pairs add up: two edges between the same nodes carry two messages.
  return torch::sparse_coo_tensor(index, ones, {nodes, nodes}).coalesce();
}

std::vector<NetworkShape> shapes_of(const PolicySpec& spec) {
  size_t columns = 0;
  for (const PolicyFeature& f : spec.node_features) {
    columns += columns_of(Architecture::kPlaceto, spec.dimensions, f.name);
  }
  return networks_of(Architecture::kPlaceto, spec.dimensions, columns, 0);
}

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

std::vector<float> floats_of(const torch::Tensor& tensor) {
  const torch::Tensor flat = tensor.detach().to(torch::kCPU).contiguous().flatten();
  return {flat.data_ptr<float>(), flat.data_ptr<float>() + flat.numel()};
}

}  // namespace

GraphTensors graph_tensors(const Problem& problem) {
  const Graph& graph = problem.graph();
  const auto nodes = static_cast<int64_t>(graph.node_count());
  std::vector<int64_t> sources, targets, steps;
  std::vector<bool> decided(problem.group_count());
  for (uint32_t v = 0; v < graph.node_count(); ++v) {
    for (const OutEdge& out : graph.out_edges(v)) {
      sources.push_back(v);
      targets.push_back(out.target);
    }
  }
  for (const uint32_t v : graph.topological_order()) {
    if (decided[problem.group_of(v)]) continue;
    decided[problem.group_of(v)] = true;
    steps.push_back(v);
  }
  GraphTensors tensors;
  tensors.along = adjacency(nodes, targets, sources);
  tensors.against = adjacency(nodes, sources, targets);
  tensors.current = torch::tensor(steps, torch::kLong);
  for (int i = 0; i < 3; ++i) {
    tensors.members.push_back(torch::zeros({nodes, static_cast<int64_t>(steps.size())}));
  }
  PlacetoReach reach(graph);
  for (size_t t = 0; t < steps.size(); ++t) {
    reach.find(static_cast<uint32_t>(steps[t]));
    const std::span<const uint32_t> sets[] = {reach.ancestors(), reach.descendants(),
                                              reach.unrelated()};
    for (size_t i = 0; i < 3; ++i) {
      float* const column = tensors.members[i].data_ptr<float>() + t;
      for (const uint32_t v : sets[i]) column[v * steps.size()] = 1;
    }
  }
  return tensors;
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

PlacetoNetImpl::PlacetoNetImpl(const PolicySpec& spec) : spec_(spec) {
  spec_.tensors.clear();
  for (const NetworkShape& shape : shapes_of(spec_)) {
    std::string name = shape.name;
    std::replace(name.begin(), name.end(), '.', '_');  // LibTorch keeps '.' for itself
    networks_.emplace_back(shape.name, register_module(name, Dense(shape.widths)));
    torch::NoGradGuard no_gradient;
    networks_.back().second->layers.back()->weight.mul_(first_scale(shape.name));
  }
}

Dense& PlacetoNetImpl::network(const std::string& name) {
  const auto it = std::find_if(networks_.begin(), networks_.end(),
                               [&](const auto& n) { return n.first == name; });
  TORCH_CHECK(it != networks_.end(), "no network ", name);
  return it->second;
}

// x_v <- g(sum over whom v hears of f(x_u)) + x_v. Addanki et al., section 3.2.
torch::Tensor PlacetoNetImpl::exchange(torch::Tensor x, const torch::Tensor& adjacency, Dense& f,
                                       Dense& g) const {
  const torch::Tensor messages = f->forward(x).view({x.size(0), -1});
  return g->forward(torch::mm(adjacency, messages).view(x.sizes())) + x;
}

torch::Tensor PlacetoNetImpl::forward(const torch::Tensor& features, const GraphTensors& graph,
                                      const torch::Tensor& steps) {
  std::vector<torch::Tensor> columns;
  for (const PolicyFeature& f : spec_.node_features) {
    const auto it = std::find_if(kStepFeatureList.begin(), kStepFeatureList.end(),
                                 [&](const Feature& known) { return known.name == f.name; });
    const auto feature = static_cast<StepFeature>(it - kStepFeatureList.begin());
    columns.push_back(
        (features.narrow(2, step_column(feature, spec_.dimensions.devices),
                         columns_of(Architecture::kPlaceto, spec_.dimensions, f.name)) -
         f.shift) *
        f.scale);
  }
  torch::Tensor x = network("encoder")->forward(torch::cat(columns, 2));
  for (uint32_t round = 0; round < spec_.dimensions.rounds; ++round) {
    x = exchange(x, graph.along, network("along.f"), network("along.g"));
    x = exchange(x, graph.against, network("against.f"), network("against.g"));
  }
  const torch::Tensor current = graph.current.index_select(0, steps);
  std::vector<torch::Tensor> parts = {x.index({current, torch::arange(steps.size(0))})};
  const char* const sets[] = {"ancestors", "descendants", "unrelated"};
  for (size_t i = 0; i < 3; ++i) {
    const torch::Tensor members = graph.members[i].index_select(1, steps).unsqueeze(2);
    const torch::Tensor sum = (network(std::string(sets[i]) + ".f")->forward(x) * members).sum(0);
    parts.push_back(network(std::string(sets[i]) + ".g")->forward(sum));
  }
  return network("head")->forward(torch::cat(parts, 1));
}

std::vector<PolicyTensor> PlacetoNetImpl::tensors() const {
  std::vector<PolicyTensor> all;
  for (const auto& [name, dense] : networks_) {
    for (size_t i = 0; i < dense->layers.size(); ++i) {
      const std::string layer = name + "." + std::to_string(i);
      const torch::Tensor weight = dense->layers[i]->weight.t(), bias = dense->layers[i]->bias;
      all.push_back({layer + ".weight",
                     {static_cast<uint32_t>(weight.size(0)), static_cast<uint32_t>(weight.size(1))},
                     floats_of(weight)});
      all.push_back({layer + ".bias", {static_cast<uint32_t>(bias.size(0))}, floats_of(bias)});
    }
  }
  return all;
}

bool PlacetoNetImpl::has_shape() const {
  const std::vector<TensorShape> wanted = tensors_of(shapes_of(spec_));
  const std::vector<PolicyTensor> given = tensors();
  return std::equal(wanted.begin(), wanted.end(), given.begin(), given.end(),
                    [](const TensorShape& w, const PolicyTensor& g) {
                      return w.name == g.name && w.shape == g.shape;
                    });
}

}  // namespace placeto::train
