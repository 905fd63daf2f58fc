// Training: iterations of acting through the runtime and learning from what came of it.
#pragma once

#include <string_view>
#include <vector>

#include "trainer/train/algorithm.h"

namespace placeto::train {

// Trains in the folder from its last checkpoint, or from the beginning if `resume` is false. The
// result depends on the configuration alone: not on the number of threads or hosts, nor on
// interruptions.
Status train(const Config& config, std::string_view config_text, MakeAlgorithm make,
             RunFolder& folder, bool resume, const TrainOptions& options);

// The policy file of the run's last checkpoint.
Result<std::vector<uint8_t>> export_run(const Config& config, std::string_view config_text,
                                        MakeAlgorithm make, const RunFolder& folder);

}  // namespace placeto::train
