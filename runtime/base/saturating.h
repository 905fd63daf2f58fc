// Sums and products of sizes that an input makes as large as it likes: copies of one output on many
// devices are together more bytes than 64 bits count.
#pragma once

#include <cstdint>

namespace placeto {

inline constexpr uint64_t kMostSize = uint64_t{1} << 62;  // what is more counts as this

constexpr uint64_t saturating_add(uint64_t a, uint64_t b) {
  return a > kMostSize || b > kMostSize - a ? kMostSize : a + b;
}

constexpr uint64_t saturating_product(uint64_t a, uint64_t b) {
  if (a == 0 || b == 0) return 0;
  return a > kMostSize / b ? kMostSize : a * b;
}

}  // namespace placeto
