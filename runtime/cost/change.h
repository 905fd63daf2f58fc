#pragma once

#include <cstdint>

namespace placeto {

// What a neighbour of a placement has elsewhere.
struct Change {
  uint32_t node;
  uint32_t device;
};

}  // namespace placeto
