// From a learner's networks to a policy file.
#pragma once

#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "runtime/policy/file/policy.h"
#include "runtime/policy/file/policy_spec.h"
#include "trainer/base/config.h"

namespace placeto::train {

// The policy as a file; the set, or the names of one's own graphs, the `examples` that it was
// trained on and the configuration, without folders, go into its provenance. No date: equal
// training gives an equal file, if what the configuration says of `threads` is equal, too.
Result<std::vector<uint8_t>> export_policy(PolicySpec spec, const Config& config,
                                           std::string_view config_text, uint64_t examples);

// The policy handed over in memory, exactly as the file would be loaded.
Result<std::shared_ptr<const Policy>> load_exported(std::span<const uint8_t> bytes);

}  // namespace placeto::train
