// Which versions of an operator, and of which element types, a provider has kernels for.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "runtime/graph/graph.h"

namespace placeto {

// Bit n: the type of that number in tools/io/element_names.h.
using TypeSet = uint32_t;
inline constexpr TypeSet kAnyType = 0xffffffffu;

struct Kernel {
  uint32_t first = 0, last = 0xffffffffu;  // versions of the operator set
  std::vector<TypeSet> inputs;  // by position; the last goes for all that follow; none: any type
};

// By operator; one without kernels is run in every version and of every type.
using KernelTable = std::map<std::string, std::vector<Kernel>>;

// Why no kernel takes the node: "of double", "operator set 9". Empty if one does, as far as the
// graph knows the node's version and types.
std::string refusal(std::span<const Kernel* const> kernels, const NodeSpec& node);

}  // namespace placeto
