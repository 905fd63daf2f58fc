// The features of the `placeto` policy, defined once: this list names the columns that the runtime
// computes, the trainer records and policy files refer to.
// Addanki et al., "Placeto: Learning Generalizable Device Placement Algorithms for Distributed
// Machine Learning", NeurIPS 2019, section 3.2.
//
// One row per node, the same graph seen from the node that a step re-places (the current node).
// Every feature is scaled by its maximum over the graph. The published code divides relative start
// times by the largest one that is left at this step, which is 0 for a node that starts last and
// lets the others grow without bound; here the scale is the latest start, so the range is [-1, 1].
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "runtime/base/no_index.h"
#include "runtime/cost/problem.h"
#include "runtime/policy/feature.h"

namespace placeto {

// `placed_on` stands for as many columns as the policy has devices, in the order of the devices;
// its shift and scale hold for each. Every other feature is one column.
#define PLACETO_STEP_FEATURES(X)                                                                \
  X(run_time, "mean run time / largest mean run time", 0, 1)                                    \
  X(output_bytes, "bytes of all its outputs / largest such sum", 0, 1)                          \
  X(placed_on, "1 in the column of the device it is on now, else 0; a column per device", 0, 1) \
  X(visited, "1 if this pass has decided on it", 0, 1)                                          \
  X(current, "1 if it is the current node", 0, 1)                                               \
  X(start_time, "start minus start of the current node / latest start", -1, 1)

PLACETO_DEFINE_FEATURES(StepFeature, kStepFeatures, kStepFeatureList, PLACETO_STEP_FEATURES)

// Columns of a row with all features, and the first column of one of them.
constexpr uint32_t step_columns(uint32_t devices) {
  return kStepFeatures - 1 + devices;
}
constexpr uint32_t step_column(StepFeature feature, uint32_t devices) {
  const auto index = static_cast<uint32_t>(feature);
  return feature > StepFeature::k_placed_on ? index + devices - 1 : index;
}

// The rows of one episode.
class PublishedFeatures {
 public:
  // The problem must outlive it.
  explicit PublishedFeatures(const Problem& problem);

  // A new pass: no node is visited.
  void begin_pass(std::span<const uint32_t> assignment);
  // The node becomes the current one. Start times: one per node, of the last simulated timeline.
  void begin_step(uint32_t node, std::span<const double> start_us);
  // The nodes are visited now, and on the device.
  void decide(std::span<const uint32_t> nodes, uint32_t device);

  uint32_t current() const { return current_; }
  uint32_t columns() const { return columns_; }
  // nodes x columns().
  std::span<const float> rows() const { return rows_; }

 private:
  float& at(uint32_t node, StepFeature feature) {
    return rows_[size_t{node} * columns_ + step_column(feature, devices_)];
  }
  void place(uint32_t node, uint32_t device);

  uint32_t nodes_, devices_, columns_;
  uint32_t current_ = kNoIndex;
  std::vector<float> rows_;
};

}  // namespace placeto
