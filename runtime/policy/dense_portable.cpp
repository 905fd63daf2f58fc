// The portable dense layer. Every output is one running sum, bias + x[0] w[0] + x[1] w[1] + ...,
// rounded after each multiplication and each addition. Lanes hold different outputs, so the width
// of a vector changes nothing about any sum: the variants below return the same bits, here and on
// every other machine with IEEE arithmetic. That needs -ffp-contract=off (cmake/warnings.cmake),
// without which AVX2, AVX-512 and aarch64 would fuse the two roundings into one.
#include "runtime/policy/dense_portable.h"

#include <cstring>

namespace placeto {
namespace {

// Rows per tile. Four rows of two vectors are eight running sums: enough to hide the latency of
// addition, few enough for 16 registers. 6, 8 and 12 rows were measured and are no faster.
constexpr int kTileRows = 4;

namespace baseline {
#define PLACETO_TILE_TARGET
#define PLACETO_TILE_LANES 4
#include "runtime/policy/dense_tile.inc"
}  // namespace baseline

#if defined(__x86_64__)
namespace avx2 {
#define PLACETO_TILE_TARGET __attribute__((target("avx2")))
#define PLACETO_TILE_LANES 8
#include "runtime/policy/dense_tile.inc"
}  // namespace avx2

namespace avx512 {
#define PLACETO_TILE_TARGET __attribute__((target("avx512f")))
#define PLACETO_TILE_LANES 16
#include "runtime/policy/dense_tile.inc"
}  // namespace avx512
#endif

constexpr PortableDense kVariants[] = {
    {"baseline", baseline::dense},
#if defined(__x86_64__)
    {"avx2", avx2::dense},
    {"avx512", avx512::dense},
#endif
};

}  // namespace

std::span<const PortableDense> portable_dense_variants() {
  size_t count = 1;
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx2")) {
    count = __builtin_cpu_supports("avx512f") ? 3 : 2;
  }
#endif
  return {kVariants, count};
}

}  // namespace placeto
