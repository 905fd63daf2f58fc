// What can be said of the paths of outputs before the work starts.
#pragma once

#include <set>
#include <span>
#include <string>

#include "runtime/base/result.h"

namespace placeto {

// Fails with kInvalidArgument if one leads to an input (`inputs` are by one_name) or two to one
// file, and with kIo if a file surely cannot be written there: a directory, or one that is missing
// or has no permission. The message starts with the path. Empty paths are skipped; "-", standard
// output, may be there once.
Status check_output_paths(std::span<const std::string> outputs,
                          const std::set<std::string>& inputs);

// What is written to a terminal or to /dev/null overwrites nothing.
bool keeps_nothing(const std::string& path);

// That an output would take the place of an input.
Status overwrites_input(const std::string& output);

}  // namespace placeto
