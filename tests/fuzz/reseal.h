// Making the length and the SHA-256 of a changed policy file right again, as somebody would who
// means harm. Without it nearly every mutation ends at the hash, and what lies behind is not
// tested.
#pragma once

#include <cstdint>
#include <vector>

namespace placeto::fuzz {

// False, and the bytes are as before, when they have no place for a length or a hash.
bool reseal_policy(std::vector<uint8_t>& bytes);

}  // namespace placeto::fuzz
