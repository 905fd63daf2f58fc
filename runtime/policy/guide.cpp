#include "runtime/policy/guide.h"

#include "runtime/policy/pairwise/guide.h"
#include "runtime/policy/published/guide.h"

namespace placeto {

Result<std::unique_ptr<PolicyGuide>> make_policy_guide(const Policy& policy, Workbench& bench,
                                                       KernelChoice kernels) {
  return policy.architecture() == Architecture::kPairwise
             ? make_pairwise_guide(policy, bench, kernels)
             : make_published_guide(policy, bench, kernels);
}

std::string_view feature_name(const Policy& policy, uint32_t column) {
  return policy.architecture() == Architecture::kPairwise
             ? pairwise_feature_name(column)
             : published_feature_name(column, policy.dimensions().devices);
}

}  // namespace placeto
