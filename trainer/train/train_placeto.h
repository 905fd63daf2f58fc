// Training of `placeto` policies: iterations of sampled episodes and gradients from them
// (`reinforce`, `group`). train.h says what holds of every run.
#pragma once

#include "trainer/train/train.h"

namespace placeto::train {

Status train_placeto(const Config& config, std::string_view config_text, RunFolder& folder,
                     bool resume, const TrainOptions& options);

// The policy file of a run's checkpoint.
Result<std::vector<uint8_t>> export_placeto(const Config& config, std::string_view config_text,
                                            const Checkpoint& checkpoint);

}  // namespace placeto::train
