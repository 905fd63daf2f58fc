#include "trainer/published/network.h"

#include <algorithm>

#include "runtime/policy/published/features.h"
#include "runtime/policy/published/reach.h"

namespace placeto::train {
namespace {

std::vector<NetworkShape> shapes_of(const PolicySpec& spec) {
  size_t columns = 0;
  for (const PolicyFeature& f : spec.node_features) {
    columns += columns_of(Architecture::kPlaceto, spec.dimensions, f.name);
  }
  return networks_of(Architecture::kPlaceto, spec.dimensions, columns, 0);
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
  tensors.adjacency = adjacency_of(nodes, sources, targets);
  tensors.hears_along = torch::zeros({nodes, 1, 1});
  tensors.hears_against = torch::zeros({nodes, 1, 1});
  for (const int64_t v : targets) tensors.hears_along[v] = 1;
  for (const int64_t v : sources) tensors.hears_against[v] = 1;
  tensors.current = torch::tensor(steps, torch::kLong);
  for (int i = 0; i < 3; ++i) {
    tensors.members.push_back(torch::zeros({nodes, static_cast<int64_t>(steps.size())}));
  }
  PublishedReach reach(graph);
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

GraphTensors GraphTensors::on(torch::Device processor) const {
  GraphTensors there{adjacency.on(processor),
                     hears_along.to(processor),
                     hears_against.to(processor),
                     current.to(processor),
                     {}};
  for (const torch::Tensor& set : members) there.members.push_back(set.to(processor));
  return there;
}

PlacetoNetImpl::PlacetoNetImpl(const PolicySpec& spec)
    : NetworksImpl(shapes_of(spec)), features_(spec.node_features), dimensions_(spec.dimensions) {}

torch::Tensor PlacetoNetImpl::normalised(const torch::Tensor& features) const {
  std::vector<torch::Tensor> columns;
  for (const PolicyFeature& f : features_) {
    const auto it = std::find_if(kStepFeatureList.begin(), kStepFeatureList.end(),
                                 [&](const Feature& known) { return known.name == f.name; });
    const auto feature = static_cast<StepFeature>(it - kStepFeatureList.begin());
    columns.push_back((features.narrow(2, step_column(feature, dimensions_.devices),
                                       columns_of(Architecture::kPlaceto, dimensions_, f.name)) -
                       f.shift) *
                      f.scale);
  }
  return torch::cat(columns, 2);
}

torch::Tensor PlacetoNetImpl::pass_messages(const torch::Tensor& encoding,
                                            const torch::Tensor& adjacency,
                                            const torch::Tensor& hears, const std::string& name) {
  torch::Tensor x = encoding;
  for (uint32_t round = 0; round < dimensions_.rounds; ++round) {
    x = torch::addcmul(encoding, heard(x, adjacency, name), hears);
  }
  return x;
}

torch::Tensor PlacetoNetImpl::forward(const torch::Tensor& features, const GraphTensors& graph,
                                      const torch::Tensor& steps) {
  const torch::Tensor encoding = network("encoder")->forward(normalised(features));
  const torch::Tensor x =
      torch::cat({pass_messages(encoding, graph.adjacency.along, graph.hears_along, "along"),
                  pass_messages(encoding, graph.adjacency.against, graph.hears_against, "against")},
                 2);
  const torch::Tensor current = graph.current.index_select(0, steps);
  std::vector<torch::Tensor> parts = {
      x.index({current, torch::arange(steps.size(0), steps.device())})};
  const char* const sets[] = {"ancestors", "descendants", "unrelated"};
  for (size_t i = 0; i < 3; ++i) {
    const torch::Tensor members = graph.members[i].index_select(1, steps).unsqueeze(2);
    const torch::Tensor sum = (network(std::string(sets[i]) + ".f")->forward(x) * members).sum(0);
    parts.push_back(network(std::string(sets[i]) + ".g")->forward(sum));
  }
  return network("head")->forward(torch::cat(parts, 1));
}

}  // namespace placeto::train
