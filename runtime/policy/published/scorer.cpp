#include "runtime/policy/published/scorer.h"

#include <algorithm>
#include <cassert>

namespace placeto {

// Loading the policy has checked that every name is known.
std::vector<PublishedScorer::Column> PublishedScorer::columns_of(const Policy& policy) {
  const uint32_t devices = policy.dimensions().devices;
  std::vector<Column> columns;
  for (const PolicyFeature& wanted : policy.node_features()) {
    const auto it = std::find_if(kStepFeatureList.begin(), kStepFeatureList.end(),
                                 [&](const Feature& f) { return f.name == wanted.name; });
    const auto feature = static_cast<StepFeature>(it - kStepFeatureList.begin());
    const uint32_t first = step_column(feature, devices);
    const uint32_t count = feature == StepFeature::k_placed_on ? devices : 1;
    for (uint32_t i = 0; i < count; ++i) {
      columns.push_back(
          {first + i, wanted.shift, wanted.scale, feature == StepFeature::k_start_time});
    }
  }
  return columns;
}

PublishedScorer::PublishedScorer(const Policy& policy, const Problem& problem, KernelChoice kernels,
                                 Stop* stop)
    : columns_(columns_of(policy)),
      inputs_(columns_.size() * problem.node_count()),
      network_(policy, problem.graph(), kernels,
               std::any_of(columns_.begin(), columns_.end(),
                           [](const Column& c) { return c.start_time; })
                   ? PublishedNetwork::Reuse::kNever
                   : PublishedNetwork::Reuse::kWherePossible,
               stop) {
  assert(policy.dimensions().devices == problem.device_count());
  const auto it =
      std::find_if(columns_.begin(), columns_.end(), [](const Column& c) { return c.start_time; });
  if (it != columns_.end()) start_time_ = static_cast<size_t>(it - columns_.begin());
}

void PublishedScorer::normalise(const PublishedFeatures& features, uint32_t node) {
  const float* const row = &features.rows()[size_t{node} * features.columns()];
  float* const out = &inputs_[node * columns_.size()];
  for (size_t i = 0; i < columns_.size(); ++i) {
    out[i] = (row[columns_[i].column] - columns_[i].shift) * columns_[i].scale;
  }
}

void PublishedScorer::normalise_start_times(const PublishedFeatures& features) {
  const Column& column = columns_[*start_time_];
  const float* in = features.rows().data() + column.column;
  float* out = inputs_.data() + *start_time_;
  const size_t nodes = inputs_.size() / columns_.size();
  for (size_t v = 0; v < nodes; ++v, in += features.columns(), out += columns_.size()) {
    *out = (*in - column.shift) * column.scale;
  }
}

std::span<const float> PublishedScorer::score(PublishedFeatures& features) {
  for (const uint32_t v : features.touched()) normalise(features, v);
  if (start_time_) normalise_start_times(features);
  network_.embed(inputs_.data(), features.touched());
  features.forget_touched();
  return network_.logits(features.current());
}

}  // namespace placeto
