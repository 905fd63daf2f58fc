// The `pairwise` architecture as a PolicyGuide.
#pragma once

#include "runtime/policy/guide.h"

namespace placeto {

// Never fails: it serves any graph and any devices.
Result<std::unique_ptr<PolicyGuide>> make_pairwise_guide(const Policy& policy, Workbench& bench,
                                                         KernelChoice kernels);

std::string_view pairwise_feature_name(uint32_t column);

}  // namespace placeto
