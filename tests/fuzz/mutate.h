// Random damage to valid inputs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "runtime/base/random.h"

namespace placeto::fuzz {

// One change that keeps the input what it is: a FlatBuffer of one of the schemas (mutate_tables.h)
// or a protobuf message (mutate_messages.h). False, and none, if it is neither.
bool mutate_structure(std::vector<uint8_t>& bytes, size_t most_bytes, Random& random);

// For compilers without libFuzzer: one to three of those changes; or one to four of: flipped bits,
// changed bytes, changed 32-bit words (offsets and lengths of a FlatBuffer are such), a truncation,
// a part repeated or removed, a part of `other` spliced in.
std::vector<uint8_t> mutate(const std::vector<uint8_t>& seed, const std::vector<uint8_t>& other,
                            Random& random);

}  // namespace placeto::fuzz
