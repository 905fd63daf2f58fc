// `placeto-train eval`.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <string>

#include "runtime/base/result.h"

namespace placeto::train {

// Adds the subcommand. What it returns runs it, once the command line is parsed.
std::function<Status()> add_eval(CLI::App& app);

// A short table on test problems that no policy was trained on: what a new `pairwise` policy is
// worth.
Status compare_with_heuristics(const std::string& policy);

}  // namespace placeto::train
