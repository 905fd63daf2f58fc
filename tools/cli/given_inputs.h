// --input: what the inputs of a model that runs are.
#pragma once

#include <string>
#include <vector>

#include "tools/engine/model_inputs.h"
#include "tools/options/options.h"

namespace placeto::cli {

void add_inputs(Command& command, std::vector<std::string>& target);

// "pixels=photo.npy", with a file that may come through a pipe. A Failure if it has not that form.
GivenInput given_input(const std::string& text);

}  // namespace placeto::cli
