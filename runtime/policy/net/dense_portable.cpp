// The portable dense layer. Every output is one running sum, bias + x[0] w[0] + x[1] w[1] + ...,
// rounded after each multiplication and each addition. Lanes hold different outputs, so the width
// of a vector changes nothing about any sum: the variants below return the same bits, here and on
// every other machine with IEEE arithmetic. That needs -ffp-contract=off (cmake/warnings.cmake),
// without which AVX2, AVX-512 and aarch64 would fuse the two roundings into one.
#include "runtime/policy/net/dense_portable.h"

#include <algorithm>
#include <cstring>
#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace placeto {
namespace {

// Rows per tile. Four rows of two vectors are eight running sums: enough to hide the latency of
// addition, few enough for 16 registers. 6, 8 and 12 rows were measured and are no faster.
constexpr int kTileRows = 4;

namespace baseline {
#define PLACETO_TILE_TARGET
#define PLACETO_TILE_LANES 4
#include "runtime/policy/net/dense_tile.inc"
}  // namespace baseline

#if defined(__x86_64__)
namespace avx2 {
#define PLACETO_TILE_TARGET __attribute__((target("avx2")))
#define PLACETO_TILE_LANES 8
#include "runtime/policy/net/dense_tile.inc"
}  // namespace avx2

namespace avx512 {
#define PLACETO_TILE_TARGET __attribute__((target("avx512f")))
#define PLACETO_TILE_LANES 16
#include "runtime/policy/net/dense_tile.inc"
}  // namespace avx512
#endif

constexpr PortableDense kVariants[] = {
    {"baseline", baseline::dense},
#if defined(__x86_64__)
    {"avx2", avx2::dense},
    {"avx512", avx512::dense},
#endif
};

#if defined(__x86_64__)
// How many of the variants this processor can run, and the operating system saves the registers of.
// Not __builtin_cpu_supports: it brings 4 KB of code that tells every processor apart.
size_t usable_variants() {
  unsigned a = 0, b = 0, c = 0, d = 0, saved = 0, high = 0;
  if (__get_cpuid(1, &a, &b, &c, &d) == 0 || (c & bit_OSXSAVE) == 0) return 1;
  __asm__("xgetbv" : "=a"(saved), "=d"(high) : "c"(0));
  if (__get_cpuid_count(7, 0, &a, &b, &c, &d) == 0) return 1;
  constexpr unsigned kAvx = 0x06, kAvx512 = 0xe6;
  if ((saved & kAvx) != kAvx || (b & bit_AVX2) == 0) return 1;
  return (saved & kAvx512) == kAvx512 && (b & bit_AVX512F) != 0 ? 3 : 2;
}
#endif

}  // namespace

std::span<const PortableDense> portable_dense_variants() {
#if defined(__x86_64__)
  return {kVariants, usable_variants()};
#else
  return kVariants;
#endif
}

}  // namespace placeto
