// placeto inspect on ONNX models.
#pragma once

#include "tools/cli/common.h"
#include "tools/cli/graph_input.h"

namespace placeto::cli {

// Prints what the model holds: its interface, its operators, its parameters, what import makes of
// it and what it cannot tell. Free dimensions that the options do not set count 1.
void inspect_model(const std::string& path, ModelOptions options, const Common& common);

}  // namespace placeto::cli
