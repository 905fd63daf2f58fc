// The commands that measure policies: eval, pareto, starts, table.
#pragma once

#include "runtime/base/result.h"
#include "tools/options/options.h"

namespace placeto::train {

// Adds them. The one that runs sets `status`, which outlives the program.
void add_measurements(cli::Program& program, Status& status);

}  // namespace placeto::train
