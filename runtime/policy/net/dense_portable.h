// Private to the kernels: the portable dense layer, once per instruction set it was compiled for.
// All of them return the same bits.
#pragma once

#include <span>

#include "runtime/policy/net/kernels.h"

namespace placeto {

struct PortableDense {
  const char* name;  // instruction set
  DenseFunction run;
};

// Those this machine can execute, slowest first; never empty.
std::span<const PortableDense> portable_dense_variants();

}  // namespace placeto
