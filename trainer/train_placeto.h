// Training of `placeto` policies: iterations of sampled episodes and gradients from them
// (`reinforce`, `group`). train.h says what holds of every run.
#pragma once

#include "trainer/episode.h"
#include "trainer/train.h"

namespace placeto::train {

Status train_placeto(const Config& config, std::string_view config_text, RunFolder& folder,
                     bool resume, const TrainOptions& options);

// The policy file of a run's checkpoint.
Result<std::vector<uint8_t>> export_placeto(const Config& config, std::string_view config_text,
                                            const Checkpoint& checkpoint);

// The problems that a configuration trains a `placeto` policy on; graphs where no heuristic fits
// the memory are left out.
std::vector<Course> training_courses(const Config& config);

}  // namespace placeto::train
