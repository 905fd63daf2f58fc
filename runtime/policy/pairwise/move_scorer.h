// MoveScorer: what a `pairwise` policy thinks of moves. A score is the expected decrease of the
// logarithm of the makespan, so staying scores 0. A policy that leaps also says where it would have
// groups in the end.
#pragma once

#include <span>
#include <vector>

#include "runtime/policy/pairwise/graph_embedding.h"
#include "runtime/policy/pairwise/move_features.h"

namespace placeto {

// One per placer; the policy is shared. No allocation after the first refresh.
class MoveScorer {
 public:
  // The policy's architecture is kPairwise. Policy and problem must outlive the scorer.
  MoveScorer(const Policy& policy, const Problem& problem, KernelChoice kernels,
             Stop* stop = nullptr);

  // Embeds the graph, if the policy has a graph network; once per pass. Incomplete if stopped.
  void embed(const PlacementState& state, Stop* stop = nullptr) {
    embedding_.update(state, kernels_, workspace_, stop);
  }
  // How often that was done; 0 for ever if the policy has no graph network.
  uint64_t embeddings() const { return embedding_.updates(); }
  // Unnormalised rows of the last time, nodes x kNodeFeatures: what a trainer records.
  std::span<const float> node_rows() const { return embedding_.node_rows(); }

  // One score per device, for the group that `features` has begun. `devices` has at most
  // MoveFeatures::kMostCandidates entries. The rows stay readable until the next call.
  std::span<const float> score(const MoveFeatures& features, std::span<const uint32_t> devices) {
    return run(policy_->head(), features, devices);
  }
  // Logits of where a good placement has the group, staying has 0. Only if the policy leaps.
  std::span<const float> score_leap(const MoveFeatures& features,
                                    std::span<const uint32_t> devices) {
    return run(*leap_, features, devices);
  }
  // Unnormalised rows of the last call, devices x kPairFeatures: what a trainer records.
  std::span<const float> rows() const { return rows_; }

 private:
  std::span<const float> run(const Mlp& network, const MoveFeatures& features,
                             std::span<const uint32_t> devices);

  const Policy* policy_;
  const Mlp* leap_;
  Kernels kernels_;
  Workspace workspace_;
  GraphEmbedding embedding_;
  std::vector<uint32_t> columns_;  // feature of each input column behind the pooled embedding
  std::vector<float> pooled_, rows_, inputs_, scores_;
};

}  // namespace placeto
