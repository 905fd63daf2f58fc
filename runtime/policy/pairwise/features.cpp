#include "runtime/policy/pairwise/features.h"

#include "runtime/policy/published/features.h"

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

KnownFeatures known_features() {
  return {kNodeNames, kPairNames, kStepNames};
}

}  // namespace placeto
