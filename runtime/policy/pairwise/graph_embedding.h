// GraphEmbedding: what the graph network of a `pairwise` policy makes of every node.
#pragma once

#include <span>
#include <vector>

#include "runtime/policy/file/policy.h"
#include "runtime/policy/pairwise/placement_state.h"

namespace placeto {

// One per placer; the policy is shared. A policy without a graph network has embeddings of no
// columns. No allocation after construction.
class GraphEmbedding {
 public:
  // Plans the workspace. Policy and problem must outlive it.
  GraphEmbedding(const Policy& policy, const Problem& problem, Workspace& workspace, Stop* stop);

  // Embeds the graph with the features of the last simulated timeline. Incomplete if stopped.
  void update(const PlacementState& state, Kernels& kernels, Workspace& workspace, Stop* stop);
  // How often that was done.
  uint64_t updates() const { return updates_; }
  // Unnormalised rows of the last time, nodes x kNodeFeatures.
  std::span<const float> node_rows() const { return node_rows_; }

  uint32_t width() const { return width_; }
  // Mean embedding of the nodes: width() floats.
  void pool(std::span<const uint32_t> nodes, float* out) const;

 private:
  struct Neighbours {  // compressed rows
    std::vector<uint32_t> offset{0}, index;
  };

  const Policy* policy_;
  uint32_t width_;
  uint64_t updates_ = 0;
  std::vector<uint32_t> columns_;  // feature of each input column
  Neighbours in_, out_;
  std::vector<float> node_rows_, inputs_, embedding_;
};

}  // namespace placeto
