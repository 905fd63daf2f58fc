// PublishedScorer: what a `placeto` policy says of re-placing the current node.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "runtime/policy/published/features.h"
#include "runtime/policy/published/network.h"

namespace placeto {

// One per placer; the policy is shared. No allocation after the first score.
class PublishedScorer {
 public:
  // The policy's architecture is kPlaceto and it has as many devices as the problem. Policy and
  // problem must outlive the scorer.
  PublishedScorer(const Policy& policy, const Problem& problem, KernelChoice kernels,
                  Stop* stop = nullptr);

  // One logit per device for the current node of `features`, which must be the same object at
  // every call; takes note of the rows touched since the last one.
  std::span<const float> score(PublishedFeatures& features);
  const PublishedNetwork& network() const { return network_; }

 private:
  struct Column {
    uint32_t column;  // of a row of PublishedFeatures
    float shift, scale;
    bool start_time;
  };

  static std::vector<Column> columns_of(const Policy& policy);
  void normalise(const PublishedFeatures& features, uint32_t node);
  void normalise_start_times(const PublishedFeatures& features);

  std::vector<Column> columns_;
  std::optional<size_t> start_time_;  // its index in columns_, if the policy looks at it
  std::vector<float> inputs_;
  PublishedNetwork network_;
};

}  // namespace placeto
