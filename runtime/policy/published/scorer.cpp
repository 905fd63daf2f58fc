#include "runtime/policy/published/scorer.h"

#include <algorithm>
#include <cassert>

namespace placeto {

PublishedScorer::PublishedScorer(const Policy& policy, const Problem& problem, KernelChoice kernels,
                                 Stop* stop)
    : network_(policy, problem.graph(), kernels, stop) {
  const uint32_t devices = policy.dimensions().devices;
  assert(devices == problem.device_count());
  for (const PolicyFeature& wanted : policy.node_features()) {  // whose names loading has checked
    const auto it = std::find_if(kStepFeatureList.begin(), kStepFeatureList.end(),
                                 [&](const Feature& f) { return f.name == wanted.name; });
    const auto feature = static_cast<StepFeature>(it - kStepFeatureList.begin());
    const uint32_t first = step_column(feature, devices);
    const uint32_t count = feature == StepFeature::k_placed_on ? devices : 1;
    for (uint32_t i = 0; i < count; ++i) {
      columns_.push_back({first + i, wanted.shift, wanted.scale});
    }
  }
  inputs_.resize(columns_.size() * problem.node_count());
}

std::span<const float> PublishedScorer::score(const PublishedFeatures& features) {
  const float* row = features.rows().data();
  for (auto out = inputs_.begin(); out != inputs_.end(); row += features.columns()) {
    for (const Column& c : columns_) *out++ = (row[c.column] - c.shift) * c.scale;
  }
  network_.embed(inputs_.data());
  return network_.logits(features.current());
}

}  // namespace placeto
