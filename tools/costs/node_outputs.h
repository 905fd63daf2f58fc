// What a model says of the outputs of a node, by which profiles are told from one another.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace placeto {

struct NodeOutputs {
  std::vector<std::string> names = {};  // engines name fused nodes after them
  std::vector<int64_t> shape = {};      // of the first; empty: of one element, or not known
};

}  // namespace placeto
