// The command `eval`: every way of placing on every problem.
#pragma once

#include <string>

#include "runtime/base/result.h"
#include "tools/options/options.h"
#include "trainer/base/config.h"

namespace placeto::train {

// Adds it. It sets `status`, which outlives the program.
void add_eval(cli::Program& program, Status& status);

// A short table on problems that a new policy was not trained on: the held-out ones of one's own,
// with the shipped policy and as much search as `training_seconds` would pay for beside it, or
// those of the set that it was trained on (unseen_by).
Status compare_after_training(const Config& config, const std::string& policy,
                              double training_seconds);

}  // namespace placeto::train
