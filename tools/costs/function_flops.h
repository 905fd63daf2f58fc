// What an elementary function counts for, in graphs that are made and in models that are read.
#pragma once

#include <cstdint>

namespace placeto {

// Polynomial and scaling of one exp, tanh or erf in single precision: a round figure.
inline constexpr uint64_t kFunctionFlops = 8;

}  // namespace placeto
