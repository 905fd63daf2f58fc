// From rows of features to what the networks of a policy take: the columns that the policy wants,
// normalised.
#pragma once

#include <algorithm>
#include <span>
#include <vector>

#include "runtime/policy/file/policy_spec.h"
#include "runtime/policy/pairwise/features.h"

namespace placeto {

// The index in `known` of each feature. Loading the policy has checked that every name is there.
inline std::vector<uint32_t> columns_of(std::span<const PolicyFeature> wanted,
                                        std::span<const Feature> known) {
  std::vector<uint32_t> columns;
  for (const PolicyFeature& feature : wanted) {
    const auto it = std::find_if(known.begin(), known.end(),
                                 [&](const Feature& f) { return f.name == feature.name; });
    columns.push_back(static_cast<uint32_t>(it - known.begin()));
  }
  return columns;
}

inline void normalise(const float* row, std::span<const uint32_t> columns,
                      std::span<const PolicyFeature> features, float* out) {
  for (size_t i = 0; i < columns.size(); ++i) {
    out[i] = (row[columns[i]] - features[i].shift) * features[i].scale;
  }
}

}  // namespace placeto
