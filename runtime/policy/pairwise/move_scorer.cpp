#include "runtime/policy/pairwise/move_scorer.h"

#include <algorithm>
#include <cassert>

#include "runtime/policy/net/grid.h"
#include "runtime/policy/pairwise/inputs.h"

namespace placeto {

MoveScorer::MoveScorer(const Policy& policy, const Problem& problem, KernelChoice kernels,
                       Stop* stop)
    : policy_(&policy),
      leap_(policy.leap()),
      kernels_(kernels),
      embedding_(policy, problem, workspace_, stop),
      columns_(columns_of(policy.pair_features(), kPairFeatureList)),
      pooled_(embedding_.width()) {
  assert(policy.architecture() == Architecture::kPairwise);
  workspace_.plan(0, 0, policy.head().widest());
  if (leap_ != nullptr) workspace_.plan(0, 0, leap_->widest());
  inputs_.resize(size_t{MoveFeatures::kMostCandidates} * (pooled_.size() + columns_.size()));
  scores_.resize(MoveFeatures::kMostCandidates);
}

std::span<const float> MoveScorer::run(const Mlp& network, const MoveFeatures& features,
                                       std::span<const uint32_t> devices) {
  assert(devices.size() <= MoveFeatures::kMostCandidates);
  const size_t width = pooled_.size() + columns_.size();
  if (!pooled_.empty()) embedding_.pool(features.nodes(), pooled_.data());
  rows_.resize(devices.size() * kPairFeatures);
  for (size_t i = 0; i < devices.size(); ++i) {
    float* row = &rows_[i * kPairFeatures];
    float* input = &inputs_[i * width];
    features.row(devices[i], row);
    std::copy(pooled_.begin(), pooled_.end(), input);
    normalise(row, columns_, policy_->pair_features(), input + pooled_.size());
  }
  snap(inputs_.data(), devices.size() * width, policy_->dimensions().grid);
  network.run(inputs_.data(), width, scores_.data(), 1, static_cast<uint32_t>(devices.size()),
              kernels_, workspace_);
  return {scores_.data(), devices.size()};
}

}  // namespace placeto
