// The commands that measure policies: eval, pareto, starts, table.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <string>

#include "runtime/base/result.h"
#include "trainer/base/config.h"

namespace placeto::train {

// Adds them. What it returns runs the one that was parsed.
std::function<Status()> add_measurements(CLI::App& app);

// A short table on problems that a new `pairwise` policy was not trained on: the held-out ones of
// one's own, with the shipped policy and as much search as `training_seconds` would pay for beside
// it, or test problems.
Status compare_after_training(const Config& config, const std::string& policy,
                              double training_seconds);

}  // namespace placeto::train
