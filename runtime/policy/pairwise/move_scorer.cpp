#include "runtime/policy/pairwise/move_scorer.h"

#include <algorithm>
#include <cassert>

#include "runtime/policy/pairwise/node_features.h"

namespace placeto {
namespace {

// Loading the policy has checked that every name is known.
template <class List>
std::vector<uint32_t> columns_of(std::span<const PolicyFeature> wanted, const List& known) {
  std::vector<uint32_t> columns;
  for (const PolicyFeature& feature : wanted) {
    const auto it = std::find_if(known.begin(), known.end(),
                                 [&](const Feature& f) { return f.name == feature.name; });
    columns.push_back(static_cast<uint32_t>(it - known.begin()));
  }
  return columns;
}

// Picks and normalises the columns a policy wants.
void normalise(const float* row, std::span<const uint32_t> columns,
               std::span<const PolicyFeature> features, float* out) {
  for (size_t i = 0; i < columns.size(); ++i) {
    out[i] = (row[columns[i]] - features[i].shift) * features[i].scale;
  }
}

}  // namespace

MoveScorer::MoveScorer(const Policy& policy, const Problem& problem, KernelChoice kernels)
    : policy_(&policy),
      problem_(&problem),
      kernels_(kernels),
      node_columns_(columns_of(policy.node_features(), kNodeFeatureList)),
      pair_columns_(columns_of(policy.pair_features(), kPairFeatureList)) {
  assert(policy.architecture() == Architecture::kPairwise);
  const uint32_t embedding = policy.dimensions().embedding;
  workspace_.plan(0, 0, policy.head().widest());
  inputs_.resize(size_t{MoveFeatures::kMostCandidates} * (embedding + pair_columns_.size()));
  scores_.resize(MoveFeatures::kMostCandidates);
  pooled_.resize(embedding);
  if (embedding == 0) return;
  const Graph& graph = problem.graph();
  policy.graph_network().plan(graph.node_count(), workspace_);
  node_rows_.resize(size_t{graph.node_count()} * kNodeFeatures);
  node_inputs_.resize(size_t{graph.node_count()} * node_columns_.size());
  embedding_.resize(size_t{graph.node_count()} * embedding);
  in_offset_.push_back(0);
  out_offset_.push_back(0);
  for (uint32_t v = 0; v < graph.node_count(); ++v) {
    for (const InEdge& in : graph.in_edges(v)) in_index_.push_back(in.source);
    for (const OutEdge& out : graph.out_edges(v)) out_index_.push_back(out.target);
    in_offset_.push_back(static_cast<uint32_t>(in_index_.size()));
    out_offset_.push_back(static_cast<uint32_t>(out_index_.size()));
  }
}

void MoveScorer::embed(const PlacementState& state, Stop* stop) {
  if (policy_->dimensions().embedding == 0) return;
  ++embeddings_;
  node_features(state, node_rows_.data(), stop);
  for (uint32_t v = 0; v < problem_->node_count(); ++v) {
    normalise(&node_rows_[size_t{v} * kNodeFeatures], node_columns_, policy_->node_features(),
              &node_inputs_[size_t{v} * node_columns_.size()]);
    if (spend(stop, 1)) return;
  }
  policy_->graph_network().embed(node_inputs_.data(), node_columns_.size(), {in_offset_, in_index_},
                                 {out_offset_, out_index_}, embedding_.data(), kernels_, workspace_,
                                 stop);
}

// Mean embedding of the group's nodes.
void MoveScorer::pool_group(std::span<const uint32_t> nodes) {
  const size_t width = pooled_.size();
  std::fill(pooled_.begin(), pooled_.end(), 0.0f);
  for (uint32_t v : nodes) {
    for (size_t i = 0; i < width; ++i) pooled_[i] += embedding_[v * width + i];
  }
  for (float& x : pooled_) x /= static_cast<float>(nodes.size());
}

std::span<const float> MoveScorer::score(const MoveFeatures& features,
                                         std::span<const uint32_t> devices) {
  assert(devices.size() <= MoveFeatures::kMostCandidates);
  const size_t width = pooled_.size() + pair_columns_.size();
  if (!pooled_.empty()) pool_group(features.nodes());
  rows_.resize(devices.size() * kPairFeatures);
  for (size_t i = 0; i < devices.size(); ++i) {
    float* row = &rows_[i * kPairFeatures];
    float* input = &inputs_[i * width];
    features.row(devices[i], row);
    std::copy(pooled_.begin(), pooled_.end(), input);
    normalise(row, pair_columns_, policy_->pair_features(), input + pooled_.size());
  }
  policy_->head().run(inputs_.data(), width, scores_.data(), 1,
                      static_cast<uint32_t>(devices.size()), kernels_, workspace_);
  return {scores_.data(), devices.size()};
}

}  // namespace placeto
