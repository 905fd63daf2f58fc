// MoveScorer: what a `pairwise` policy thinks of moves. A score is the expected decrease of the
// logarithm of the makespan, so staying scores 0.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "runtime/policy/file/policy.h"
#include "runtime/policy/pairwise/move_features.h"

namespace placeto {

// One per placer; the policy is shared. No allocation after the first refresh.
class MoveScorer {
 public:
  // The policy's architecture is kPairwise. Policy and problem must outlive the scorer.
  MoveScorer(const Policy& policy, const Problem& problem, KernelChoice kernels);

  // Embeds the graph with the features of the last simulated timeline; once per pass. Incomplete if
  // stopped.
  void embed(const PlacementState& state, Stop* stop = nullptr);
  // How often that was done; 0 for ever if the policy has no graph network.
  uint64_t embeddings() const { return embeddings_; }
  // Unnormalised rows of the last time, nodes x kNodeFeatures: what a trainer records.
  std::span<const float> node_rows() const { return node_rows_; }

  // One score per device, for the group that `features` has begun. `devices` has at most
  // MoveFeatures::kMostCandidates entries. The rows stay readable until the next call.
  std::span<const float> score(const MoveFeatures& features, std::span<const uint32_t> devices);
  // Unnormalised rows of the last call, devices x kPairFeatures: what a trainer records.
  std::span<const float> rows() const { return rows_; }

 private:
  void pool_group(std::span<const uint32_t> nodes);

  const Policy* policy_;
  const Problem* problem_;
  Kernels kernels_;
  Workspace workspace_;
  uint64_t embeddings_ = 0;
  std::vector<uint32_t> node_columns_, pair_columns_;  // feature of each input column
  std::vector<uint32_t> in_offset_, in_index_, out_offset_, out_index_;
  std::vector<float> node_rows_, node_inputs_, embedding_, pooled_;
  std::vector<float> rows_, inputs_, scores_;
};

}  // namespace placeto
