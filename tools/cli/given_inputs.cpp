#include "tools/cli/given_inputs.h"

#include "tools/cli/common.h"
#include "tools/cli/graph_input.h"

namespace placeto::cli {

void add_inputs(Command& command, std::vector<std::string>& target) {
  command.list("--input", "NAME=FILE", target,
               "An .npy or raw file for an input, or for all its elements a number, true or false");
}

GivenInput given_input(const std::string& text) {
  GivenInput given = require(parse_given_input(text));
  given.source = input_path(given.source);
  return given;
}

}  // namespace placeto::cli
