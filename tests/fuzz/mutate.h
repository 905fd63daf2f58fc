// Random damage to valid inputs, for compilers without libFuzzer.
#pragma once

#include <cstdint>
#include <vector>

#include "runtime/base/random.h"

namespace placeto::fuzz {

// One to four of: flipped bits, changed bytes, changed 32-bit words (offsets and lengths of a
// FlatBuffer are such), a truncation, a part repeated or removed, a part of `other` spliced in.
std::vector<uint8_t> mutate(const std::vector<uint8_t>& seed, const std::vector<uint8_t>& other,
                            Random& random);

}  // namespace placeto::fuzz
