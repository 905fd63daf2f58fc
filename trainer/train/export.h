// From a learner to a policy file.
#pragma once

#include <memory>
#include <vector>

#include "runtime/policy/file/policy.h"
#include "trainer/pairwise/learner.h"

namespace placeto::train {

// The policy as a file; `steps` of training go into its provenance. No date: equal training gives
// an equal file.
Result<std::vector<uint8_t>> export_spec(PolicySpec spec, const Config& config,
                                         std::string_view config_text, uint64_t steps);

// The file's bytes: the averaged network with where it came from.
Result<std::vector<uint8_t>> export_policy(const Learner& learner, const Config& config,
                                           std::string_view config_text, uint64_t moves);

// The policy handed over in memory, exactly as the file would be loaded.
Result<std::shared_ptr<const Policy>> load_exported(std::span<const uint8_t> bytes);

}  // namespace placeto::train
