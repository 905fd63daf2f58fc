#include "trainer/pairwise/network.h"

#include <algorithm>

#include "trainer/nn/exact.h"

namespace placeto::train {
namespace {

// The scale of the head's weights of embeddings: at first a policy is what it would be without.
constexpr double kFirstEmbeddingScale = 0.1;

torch::Tensor rows_tensor(const std::vector<float>& rows, int64_t columns) {
  const auto count = static_cast<int64_t>(rows.size()) / columns;
  return torch::from_blob(const_cast<float*>(rows.data()), {count, columns});
}

PolicyDimensions dimensions_of(const LearnConfig& config) {
  PolicyDimensions d;
  d.head_hidden = config.hidden;
  d.grid = config.grid;
  if (config.leap > 0) d.leap_hidden = {config.leap, config.leap};
  if (config.embedding == 0) return d;
  d.embedding = config.embedding;
  d.rounds = config.rounds;
  d.encoder_hidden = config.graph_hidden;
  if (d.rounds > 0) d.message_hidden = config.graph_hidden;
  return d;
}

std::vector<NetworkShape> shapes_of(const LearnConfig& config) {
  return networks_of(Architecture::kPairwise, dimensions_of(config), kNodeFeatures, kPairFeatures);
}

template <class List>
std::vector<PolicyFeature> features_of(const List& list, const torch::Tensor& shift,
                                       const torch::Tensor& scale) {
  const std::vector<float> shifts = floats_of(shift), scales = floats_of(scale);
  std::vector<PolicyFeature> features;
  for (size_t c = 0; c < list.size(); ++c) {
    features.push_back({std::string(list[c].name), shifts[c], scales[c]});
  }
  return features;
}

Columns columns_of(const std::vector<PolicyFeature>& features) {
  Columns columns;
  for (const PolicyFeature& f : features) {
    columns.shift.push_back(f.shift);
    columns.scale.push_back(f.scale);
  }
  return columns;
}

size_t index_of_pair_feature(std::string_view name) {
  const auto known = std::ranges::find(kPairFeatureList, name, &Feature::name);
  return static_cast<size_t>(known - kPairFeatureList.begin());
}

// The head's first weights, a row for each input: those of pair features are put in the order that
// they have here, and zeros where the policy does not know one.
PolicyTensor with_all_pair_features(const PolicyTensor& first, const PolicySpec& policy) {
  const size_t width = first.shape[1], before = policy.dimensions.embedding * width;
  PolicyTensor all{first.name, {policy.dimensions.embedding + kPairFeatures, first.shape[1]}, {}};
  all.data.assign(first.data.begin(), first.data.begin() + static_cast<ptrdiff_t>(before));
  all.data.resize(before + kPairFeatures * width, 0.0f);
  for (size_t i = 0; i < policy.pair_features.size(); ++i) {
    const size_t to = index_of_pair_feature(policy.pair_features[i].name);
    std::copy_n(first.data.begin() + static_cast<ptrdiff_t>(before + i * width), width,
                all.data.begin() + static_cast<ptrdiff_t>(before + to * width));
  }
  return all;
}

}  // namespace

torch::Tensor decision_of_rows(const Samples& batch) {
  std::vector<int64_t> of(batch.row_count());
  for (uint32_t g = 0; g < batch.decisions(); ++g) {
    std::fill(of.begin() + batch.offset[g], of.begin() + batch.offset[g + 1], g);
  }
  return torch::tensor(of);
}

PairwiseNetImpl::PairwiseNetImpl(const LearnConfig& config) : config_(config) {
  std::vector<NetworkShape> shapes = shapes_of(config);
  const auto take_last = [&](const std::string& name) {
    const std::vector<uint32_t> widths = shapes.back().widths;
    shapes.pop_back();
    std::vector<torch::nn::Linear> layers;
    for (size_t i = 0; i + 1 < widths.size(); ++i) {
      layers.push_back(
          register_module(name + std::to_string(i), torch::nn::Linear(widths[i], widths[i + 1])));
    }
    return layers;
  };
  layers_ = take_last("layer");
  torch::NoGradGuard no_gradient;
  if (config.leap > 0) {
    leap_ = take_last("leap");
    leap_.back()->weight.zero_();  // at first, everything stays
    leap_.back()->bias.zero_();
  }
  shift_ = register_buffer("shift", torch::zeros({kPairFeatures}));
  scale_ = register_buffer("scale", torch::ones({kPairFeatures}));
  if (config.embedding == 0) return;
  graph_ = register_module("graph", Networks(shapes, config.grid));
  node_shift_ = register_buffer("node_shift", torch::zeros({kNodeFeatures}));
  node_scale_ = register_buffer("node_scale", torch::ones({kNodeFeatures}));
  layers_[0]->weight.narrow(1, 0, config.embedding).mul_(kFirstEmbeddingScale);
}

// Mean embedding of the nodes of each decision's group, [decisions, embedding]. All states of
// graphs are one graph of many parts.
torch::Tensor PairwiseNetImpl::embed_groups(const Samples& batch) {
  std::vector<torch::Tensor> rows;
  std::vector<int64_t> first, sources, targets;  // first: node of each state
  int64_t nodes = 0;
  for (const auto& state : batch.graphs) {
    first.push_back(nodes);
    rows.push_back(rows_tensor(state->rows, kNodeFeatures));
    for (const uint32_t v : state->source) sources.push_back(nodes + v);
    for (const uint32_t v : state->target) targets.push_back(nodes + v);
    nodes += state->node_count();
  }
  std::vector<int64_t> decisions, members;
  std::vector<float> sizes;
  for (uint32_t g = 0; g < batch.decisions(); ++g) {
    const auto group = batch.nodes(g);
    for (const uint32_t v : group) members.push_back(first[batch.graph[g]] + v);
    decisions.insert(decisions.end(), group.size(), g);
    sizes.push_back(static_cast<float>(group.size()));
  }
  const torch::Device here = node_shift_.device();
  const torch::Tensor x =
      graph_->embed(snapped((torch::cat(rows).to(here) - node_shift_) * node_scale_, config_.grid),
                    adjacency_of(nodes, sources, targets).on(here), config_.rounds);
  const torch::Tensor ones = torch::ones({static_cast<int64_t>(members.size())});
  const torch::Tensor sums =
      torch::mm(sparse(batch.decisions(), nodes, decisions, members, ones).to(here), x);
  const torch::Tensor means = sums / torch::tensor(sizes).to(here).unsqueeze(1);
  return snapped(means, config_.grid);
}

torch::Tensor PairwiseNetImpl::inputs_of(const Samples& batch) {
  const torch::Device here = shift_.device();
  const torch::Tensor x =
      snapped((rows_tensor(batch.rows, kPairFeatures).to(here) - shift_) * scale_, config_.grid);
  if (config_.embedding == 0) return x;
  const torch::Tensor decision = decision_of_rows(batch).to(here);
  return torch::cat({embed_groups(batch).index_select(0, decision), x}, 1);
}

// What the last of the layers, whose width is 1, makes of each row.
static torch::Tensor outputs_of(const std::vector<torch::nn::Linear>& layers, torch::Tensor x,
                                uint32_t grid) {
  for (size_t i = 0; i < layers.size(); ++i) {
    const auto [weight, bias] = weights_of(layers[i], 1, grid);
    x = torch::linear(x, weight, bias);
    if (i + 1 < layers.size()) x = snapped(torch::relu(x), grid);
  }
  return x.squeeze(1);
}

torch::Tensor PairwiseNetImpl::forward(const Samples& batch) {
  return outputs_of(layers_, inputs_of(batch), config_.grid);
}

torch::Tensor PairwiseNetImpl::leap_logits(const Samples& batch) {
  return outputs_of(leap_, inputs_of(batch), config_.grid);
}

void PairwiseNetImpl::set_pair(size_t feature, float shift, float scale) {
  shift_[static_cast<int64_t>(feature)] = shift;
  scale_[static_cast<int64_t>(feature)] = scale;
}

void PairwiseNetImpl::set_node(const Columns& columns) {
  node_shift_.copy_(torch::tensor(columns.shift));
  node_scale_.copy_(torch::tensor(columns.scale));
}

void PairwiseNetImpl::set_normalisation(const Normalisation& normalisation) {
  torch::NoGradGuard no_gradient;
  for (size_t f = 0; f < kPairFeatures; ++f) {
    if (!pair_taken_[f]) set_pair(f, normalisation.pair.shift[f], normalisation.pair.scale[f]);
  }
  if (config_.embedding > 0 && !node_taken_) set_node(normalisation.node);
}

PolicySpec PairwiseNetImpl::policy() const {
  PolicySpec spec;
  spec.architecture = "pairwise";
  spec.dimensions = dimensions_of(config_);
  spec.pair_features = features_of(kPairFeatureList, shift_, scale_);
  if (config_.embedding > 0) {
    spec.node_features = features_of(kNodeFeatureList, node_shift_, node_scale_);
    spec.tensors = graph_->tensors();
  }
  for (size_t i = 0; i < leap_.size(); ++i) {
    put_layer("leap." + std::to_string(i), leap_[i], 1, config_.grid, spec.tensors);
  }
  for (size_t i = 0; i < layers_.size(); ++i) {
    const double unit = i + 1 == layers_.size() ? kScoreUnit : 1;
    put_layer("head." + std::to_string(i), layers_[i], unit, config_.grid, spec.tensors);
  }
  return spec;
}

void PairwiseNetImpl::take(const PolicySpec& policy) {
  torch::NoGradGuard no_gradient;
  std::vector<PolicyTensor> all = policy.tensors;
  std::span<const PolicyTensor> tensors = all;
  PolicyTensor& first = *std::ranges::find(all, "head.0.weight", &PolicyTensor::name);
  first = with_all_pair_features(first, policy);
  const bool leaps = !policy.dimensions.leap_hidden.empty();
  if (leaps) {
    PolicyTensor& of_leap = *std::ranges::find(all, "leap.0.weight", &PolicyTensor::name);
    of_leap = with_all_pair_features(of_leap, policy);
  }
  for (const PolicyFeature& feature : policy.pair_features) {
    const size_t f = index_of_pair_feature(feature.name);
    set_pair(f, feature.shift, feature.scale);
    pair_taken_[f] = true;
  }
  if (policy.dimensions.embedding > 0) {
    set_node(columns_of(policy.node_features));
    node_taken_ = true;
    graph_->take_tensors(tensors);
  } else {
    // The head's inputs begin with the embedding.
    first.data.insert(first.data.begin(), size_t{config_.embedding} * first.shape[1], 0.0f);
    first.shape[0] += config_.embedding;
  }
  if (leaps) {
    for (torch::nn::Linear& layer : leap_) take_layer(tensors, 1, layer);
  }
  for (size_t i = 0; i < layers_.size(); ++i) {
    take_layer(tensors, i + 1 == layers_.size() ? kScoreUnit : 1, layers_[i]);
  }
}

bool PairwiseNetImpl::has_shape() const {
  const std::vector<NetworkShape> shapes = shapes_of(config_);
  const auto are_of = [](const std::vector<torch::nn::Linear>& layers, const NetworkShape& shape) {
    for (size_t i = 0; i < layers.size(); ++i) {
      const std::vector<int64_t> expected = {shape.widths[i + 1], shape.widths[i]};
      if (layers[i]->weight.sizes() != expected) return false;
    }
    return true;
  };
  return are_of(layers_, shapes.back()) &&
         (leap_.empty() || are_of(leap_, shapes[shapes.size() - 2])) &&
         (config_.embedding == 0 || graph_->has_shape());
}

}  // namespace placeto::train
