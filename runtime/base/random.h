// SplitMix64: a small seeded generator with the same stream on every machine and compiler.
// Steele, Lea and Flood, "Fast splittable pseudorandom number generators", OOPSLA 2014.
//
// std::uniform_*_distribution is not used anywhere in the runtime: the standard leaves its
// algorithm open, so the same seed gives different placements with different libraries.
#pragma once

#include <cstdint>

namespace placeto {

class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed) {}

  uint64_t next() {
    uint64_t z = (state_ += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
  }

  // Uniform in [0, bound); bound > 0. Bias below 2^-32 for the sizes used here.
  uint32_t below(uint32_t bound) { return static_cast<uint32_t>(((next() >> 32) * bound) >> 32); }

  // Uniform in [0, 1).
  double uniform() { return static_cast<double>(next() >> 11) * 0x1.0p-53; }

  // A generator whose stream is unrelated to this one's.
  Random split() { return Random(next()); }

 private:
  uint64_t state_;
};

}  // namespace placeto
