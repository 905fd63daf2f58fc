// PublishedScorer: what a `placeto` policy says of re-placing the current node.
#pragma once

#include <span>
#include <vector>

#include "runtime/policy/published/features.h"
#include "runtime/policy/published/network.h"

namespace placeto {

// One per placer; the policy is shared. No allocation after construction.
class PublishedScorer {
 public:
  // The policy's architecture is kPlaceto and it has as many devices as the problem. Policy and
  // problem must outlive the scorer.
  PublishedScorer(const Policy& policy, const Problem& problem, KernelChoice kernels,
                  Stop* stop = nullptr);

  // One logit per device for the current node of the features.
  std::span<const float> score(const PublishedFeatures& features);

 private:
  struct Column {
    uint32_t column;  // of a row of PublishedFeatures
    float shift, scale;
  };

  std::vector<Column> columns_;
  std::vector<float> inputs_;  // nodes x columns_
  PublishedNetwork network_;
};

}  // namespace placeto
