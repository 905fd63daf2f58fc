// The `placeto` architecture, as published, as a PolicyGuide.
#pragma once

#include "runtime/policy/guide.h"

namespace placeto {

// Fails where PublishedPlacer::check does, and for graphs so large that a pass takes seconds.
Result<std::unique_ptr<PolicyGuide>> make_published_guide(const Policy& policy, Workbench& bench,
                                                          KernelChoice kernels);

std::string_view published_feature_name(uint32_t column, uint32_t devices);

}  // namespace placeto
