// Names that the hash of libstdc++ for strings, MurmurHash64A, takes for one: keys with which an
// adversary makes a hash table a list.
#pragma once

#include <cstdint>
#include <cstring>
#include <functional>
#include <string>
#include <vector>

namespace placeto::test {

namespace murmur {
constexpr uint64_t kMul = 0xc6a4a7935bd1e995, kSeed = 0xc70f6907, kLength = 16;

constexpr uint64_t mix(uint64_t v) {  // its own inverse, as it shifts by more than half
  return v ^ v >> 47;
}
// Of an odd number, by Newton's iteration.
constexpr uint64_t inverse(uint64_t odd) {
  uint64_t x = odd;
  for (int i = 0; i < 5; ++i) x *= 2 - odd * x;
  return x;
}
}  // namespace murmur

// Printable names of 16 bytes, all different. Under libstdc++ one hash value for all.
inline std::vector<std::string> colliding_names(size_t count) {
  using namespace murmur;
  constexpr uint64_t kEnd = 0x1234'5678'9abc'def0;  // the state behind the last block, for all
  constexpr uint64_t kInverse = inverse(kMul);
  static_assert(kMul * kInverse == 1);
  const auto printable = [](uint64_t block) {
    for (int i = 0; i < 8; ++i, block >>= 8) {
      const auto byte = static_cast<uint8_t>(block);
      if (byte < ' ' || byte > '~') return false;
    }
    return true;
  };
  std::vector<std::string> names;
  for (uint64_t counter = 0; names.size() < count; ++counter) {
    uint64_t first = 0;  // eight hexadecimal digits
    for (int i = 0; i < 8; ++i)
      first = first << 8 | uint64_t("0123456789abcdef"[counter >> 4 * i & 15]);
    const uint64_t state = ((kSeed ^ kLength * kMul) ^ mix(first * kMul) * kMul) * kMul;
    const uint64_t second = mix((state ^ kEnd) * kInverse) * kInverse;
    if (!printable(second)) continue;
    const uint64_t blocks[] = {first, second};
    std::string name(kLength, ' ');
    std::memcpy(name.data(), blocks, kLength);
    names.push_back(std::move(name));
  }
  return names;
}

}  // namespace placeto::test
