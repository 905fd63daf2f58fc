// FIPS 180-4, Secure Hash Standard, August 2015; section numbers below are its own.
#include "runtime/base/sha256.h"

#include <algorithm>
#include <bit>

#include "runtime/base/sha256_x86.h"

namespace placeto {

// 4.2.2: the first 32 bits of the fractional parts of the cube roots of the first 64 primes.
constinit const uint32_t kSha256Round[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

namespace {

uint32_t load_big_endian(const uint8_t* bytes) {
  return uint32_t{bytes[0]} << 24 | uint32_t{bytes[1]} << 16 | uint32_t{bytes[2]} << 8 | bytes[3];
}

void store_big_endian(uint32_t word, uint8_t* bytes) {
  for (int i = 0; i < 4; ++i) bytes[i] = static_cast<uint8_t>(word >> (24 - 8 * i));
}

// 4.1.2: the functions written Sigma0, Sigma1, sigma0 and sigma1 there.
uint32_t big_sigma0(uint32_t x) {
  return std::rotr(x, 2) ^ std::rotr(x, 13) ^ std::rotr(x, 22);
}
uint32_t big_sigma1(uint32_t x) {
  return std::rotr(x, 6) ^ std::rotr(x, 11) ^ std::rotr(x, 25);
}
uint32_t small_sigma0(uint32_t x) {
  return std::rotr(x, 7) ^ std::rotr(x, 18) ^ (x >> 3);
}
uint32_t small_sigma1(uint32_t x) {
  return std::rotr(x, 17) ^ std::rotr(x, 19) ^ (x >> 10);
}

// 6.2.2, steps 2 and 3 for one t. Instead of moving all eight variables on by one, the caller
// rotates their roles: after eight calls every variable has its name back.
inline void round(uint32_t a, uint32_t b, uint32_t c, uint32_t& d, uint32_t e, uint32_t f,
                  uint32_t g, uint32_t& h, uint32_t k_plus_w) {
  const uint32_t t1 = h + big_sigma1(e) + (g ^ (e & (f ^ g))) + k_plus_w;
  d += t1;
  h = t1 + big_sigma0(a) + ((a & b) | (c & (a | b)));
}

void compress_block(std::array<uint32_t, 8>& state, const uint8_t* block) {
  uint32_t w[64];
  for (int t = 0; t < 16; ++t) w[t] = load_big_endian(block + 4 * t);
  for (int t = 16; t < 64; ++t) {
    w[t] = small_sigma1(w[t - 2]) + w[t - 7] + small_sigma0(w[t - 15]) + w[t - 16];
  }
  auto [a, b, c, d, e, f, g, h] = state;
  for (int t = 0; t < 64; t += 8) {
    round(a, b, c, d, e, f, g, h, kSha256Round[t] + w[t]);
    round(h, a, b, c, d, e, f, g, kSha256Round[t + 1] + w[t + 1]);
    round(g, h, a, b, c, d, e, f, kSha256Round[t + 2] + w[t + 2]);
    round(f, g, h, a, b, c, d, e, kSha256Round[t + 3] + w[t + 3]);
    round(e, f, g, h, a, b, c, d, kSha256Round[t + 4] + w[t + 4]);
    round(d, e, f, g, h, a, b, c, kSha256Round[t + 5] + w[t + 5]);
    round(c, d, e, f, g, h, a, b, kSha256Round[t + 6] + w[t + 6]);
    round(b, c, d, e, f, g, h, a, kSha256Round[t + 7] + w[t + 7]);
  }
  const uint32_t sum[8] = {a, b, c, d, e, f, g, h};
  for (int i = 0; i < 8; ++i) state[i] += sum[i];
}

void compress_portably(std::array<uint32_t, 8>& state, const uint8_t* blocks, size_t count) {
  for (size_t i = 0; i < count; ++i) compress_block(state, blocks + 64 * i);
}

}  // namespace

// 5.3.3: the first 32 bits of the fractional parts of the square roots of the first 8 primes.
Sha256::Sha256(Implementation implementation)
    : compress_(implementation == Implementation::kFastest && sha256_x86_available()
                    ? sha256_x86_compress
                    : compress_portably),
      state_{0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
             0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19},
      pending_{} {}

void Sha256::update(std::span<const uint8_t> bytes) {
  const size_t pending = length_ % 64;
  length_ += bytes.size();
  if (pending != 0) {
    const size_t taken = std::min(bytes.size(), 64 - pending);
    std::copy_n(bytes.begin(), taken, pending_.begin() + static_cast<ptrdiff_t>(pending));
    bytes = bytes.subspan(taken);
    if (pending + taken < 64) return;
    compress_(state_, pending_.data(), 1);
  }
  const size_t blocks = bytes.size() / 64;
  compress_(state_, bytes.data(), blocks);
  bytes = bytes.subspan(64 * blocks);
  std::copy(bytes.begin(), bytes.end(), pending_.begin());
}

// 5.1.1: a one bit, zeros up to 56 bytes modulo 64, and the length in bits as 64 bits.
Sha256Digest Sha256::finish() {
  const uint64_t bits = length_ * 8;
  uint8_t padding[72] = {0x80};
  const size_t zeros_until = (length_ % 64 < 56 ? 56 : 120) - length_ % 64;
  store_big_endian(static_cast<uint32_t>(bits >> 32), padding + zeros_until);
  store_big_endian(static_cast<uint32_t>(bits), padding + zeros_until + 4);
  update({padding, zeros_until + 8});
  Sha256Digest digest;
  for (int i = 0; i < 8; ++i) store_big_endian(state_[i], digest.data() + 4 * i);
  return digest;
}

Sha256Digest sha256(std::span<const uint8_t> bytes) {
  Sha256 hash;
  hash.update(bytes);
  return hash.finish();
}

}  // namespace placeto
