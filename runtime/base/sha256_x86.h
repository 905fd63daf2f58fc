// Private to sha256.cpp: the compression function on x86 processors with SHA instructions.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace placeto {

// The constants of FIPS 180-4, 4.2.2; defined in sha256.cpp.
extern const uint32_t kSha256Round[64];

bool sha256_x86_available();

// Requires sha256_x86_available().
void sha256_x86_compress(std::array<uint32_t, 8>& state, const uint8_t* blocks, size_t count);

}  // namespace placeto
