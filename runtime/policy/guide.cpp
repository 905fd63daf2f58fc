#include "runtime/policy/guide.h"

#include <array>

#include "runtime/policy/pairwise/features.h"
#include "runtime/policy/pairwise/guide.h"
#include "runtime/policy/published/features.h"
#include "runtime/policy/published/guide.h"

namespace placeto {
namespace {

template <size_t N>
constexpr std::array<std::string_view, N> names_of(const std::array<Feature, N>& list) {
  std::array<std::string_view, N> names;
  for (size_t i = 0; i < N; ++i) names[i] = list[i].name;
  return names;
}

constexpr auto kPairNames = names_of(kPairFeatureList);
constexpr auto kNodeNames = names_of(kNodeFeatureList);
constexpr auto kStepNames = names_of(kStepFeatureList);

}  // namespace

Result<std::unique_ptr<PolicyGuide>> make_policy_guide(const Policy& policy, Workbench& bench,
                                                       KernelChoice kernels) {
  return policy.architecture() == Architecture::kPairwise
             ? make_pairwise_guide(policy, bench, kernels)
             : make_published_guide(policy, bench, kernels);
}

KnownFeatures known_features() {
  return {kNodeNames, kPairNames, kStepNames};
}

std::string_view feature_name(const Policy& policy, uint32_t column) {
  return policy.architecture() == Architecture::kPairwise
             ? pairwise_feature_name(column)
             : published_feature_name(column, policy.dimensions().devices);
}

}  // namespace placeto
