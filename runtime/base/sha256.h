// SHA-256 (FIPS 180-4), to tell a damaged file from an intact one.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace placeto {

using Sha256Digest = std::array<uint8_t, 32>;

// Hashes a message given in pieces. Constant memory.
class Sha256 {
 public:
  enum class Implementation : uint8_t { kFastest, kPortable };  // what the processor has, or C++
  explicit Sha256(Implementation implementation = Implementation::kFastest);
  void update(std::span<const uint8_t> bytes);
  // The digest of everything so far. Ends this object's use.
  Sha256Digest finish();

 private:
  void (*compress_)(std::array<uint32_t, 8>& state, const uint8_t* blocks, size_t count);
  std::array<uint32_t, 8> state_;
  std::array<uint8_t, 64> pending_;
  uint64_t length_ = 0;  // bytes so far
};

Sha256Digest sha256(std::span<const uint8_t> bytes);

}  // namespace placeto
