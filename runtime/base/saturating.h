// Sums that stay at the largest number instead of beginning anew: what is on one device is at most
// all bytes of a graph, but copies on many devices together may be more than 64 bits count.
#pragma once

#include <cstdint>
#include <limits>

namespace placeto {

constexpr uint64_t saturating_add(uint64_t a, uint64_t b) {
  const uint64_t sum = a + b;
  return sum < a ? std::numeric_limits<uint64_t>::max() : sum;
}

}  // namespace placeto
