// Marks: points of a search at which it ends a round, whatever its budget, so that a longer search
// begins with all of a shorter one.
#pragma once

#include <cstdint>
#include <initializer_list>

namespace placeto {

// The next of `tenths` times a power of ten (1, 10, 100, ...) that is more than `spent` and at
// least `least`. `tenths` ascend.
inline uint64_t next_mark(uint64_t spent, std::initializer_list<uint64_t> tenths,
                          uint64_t least = 30) {
  for (uint64_t decade = 1;; decade *= 10) {
    for (const uint64_t t : tenths) {
      if (t * decade > spent && t * decade >= least) return t * decade;
    }
  }
}

}  // namespace placeto
