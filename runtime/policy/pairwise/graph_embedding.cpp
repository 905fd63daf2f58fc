#include "runtime/policy/pairwise/graph_embedding.h"

#include <algorithm>

#include "runtime/policy/net/grid.h"
#include "runtime/policy/pairwise/inputs.h"
#include "runtime/policy/pairwise/node_features.h"

namespace placeto {

GraphEmbedding::GraphEmbedding(const Policy& policy, const Problem& problem, Workspace& workspace,
                               Stop* stop)
    : policy_(&policy),
      width_(policy.dimensions().embedding),
      columns_(columns_of(policy.node_features(), kNodeFeatureList)) {
  if (width_ == 0) return;
  const Graph& graph = problem.graph();
  policy.graph_network().plan(graph.node_count(), workspace);
  node_rows_.resize(size_t{graph.node_count()} * kNodeFeatures);
  inputs_.resize(size_t{graph.node_count()} * columns_.size());
  embedding_.resize(size_t{graph.node_count()} * width_);
  for (uint32_t v = 0; v < graph.node_count(); ++v) {
    const auto in_edges = graph.in_edges(v);
    const auto out_edges = graph.out_edges(v);
    for (const InEdge& in : watched(in_edges, stop)) in_.index.push_back(in.source);
    for (const OutEdge& out : watched(out_edges, stop)) out_.index.push_back(out.target);
    if (spend(stop, 1 + in_edges.size() + out_edges.size())) return;
    in_.offset.push_back(static_cast<uint32_t>(in_.index.size()));
    out_.offset.push_back(static_cast<uint32_t>(out_.index.size()));
  }
}

void GraphEmbedding::update(const PlacementState& state, Kernels& kernels, Workspace& workspace,
                            Stop* stop) {
  if (width_ == 0 || stopped(stop)) return;  // the state may be incomplete
  ++updates_;
  node_features(state, node_rows_.data(), stop);
  for (uint32_t v = 0; v < state.problem().node_count(); ++v) {
    normalise(&node_rows_[size_t{v} * kNodeFeatures], columns_, policy_->node_features(),
              &inputs_[size_t{v} * columns_.size()]);
    if (spend(stop, 1)) return;
  }
  snap(inputs_.data(), inputs_.size(), policy_->dimensions().grid);
  policy_->graph_network().embed(inputs_.data(), columns_.size(), {in_.offset, in_.index},
                                 {out_.offset, out_.index}, embedding_.data(), kernels, workspace,
                                 stop);
}

void GraphEmbedding::pool(std::span<const uint32_t> nodes, float* out) const {
  std::fill_n(out, width_, 0.0f);
  for (uint32_t v : nodes) {
    for (size_t i = 0; i < width_; ++i) out[i] += embedding_[size_t{v} * width_ + i];
  }
  for (size_t i = 0; i < width_; ++i) out[i] /= static_cast<float>(nodes.size());
}

}  // namespace placeto
