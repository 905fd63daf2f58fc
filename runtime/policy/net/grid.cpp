#include "runtime/policy/net/grid.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

namespace placeto {
namespace {

constexpr int kMantissaBits = 24;                          // of a float's mantissa
constexpr int kLeastExponent = -126, kMostExponent = 127;  // of normal floats

// The largest power of two that the number is a multiple of, as its exponent; of subnormal numbers
// one that no normal number has.
int lowest_bit(float x) {
  constexpr uint32_t kMantissa = 0x7fffff, kHidden = 0x800000;
  constexpr int kBias = 150;  // of the exponent, with 23 bits of fraction
  const auto bits = std::bit_cast<uint32_t>(x);
  return std::countr_zero((bits & kMantissa) | kHidden) + static_cast<int>(bits >> 23 & 0xff) -
         kBias;
}

}  // namespace

void snap(float* x, size_t count, uint32_t grid) {
  constexpr float kRoundsOff = 12'582'912;  // 1.5 * 2^23: floats from there on have no fractions
  if (grid == 0) return;
  const auto steps = static_cast<float>(1u << grid);
  const float step = 1 / steps;
  for (size_t i = 0; i < count; ++i) {
    const float bounded = std::min(std::max(-kMostSteps, x[i] * steps), kMostSteps);
    x[i] = (bounded + kRoundsOff - kRoundsOff) * step;
  }
}

bool sums_are_exact(std::span<const float> weights, std::span<const float> bias, uint32_t grid) {
  constexpr double kMost = 1 << kMantissaBits;
  int finest = std::numeric_limits<int>::max();  // step of the weights
  for (const float w : weights) {
    if (w != 0) finest = std::min(finest, lowest_bit(w));
  }
  if (finest == std::numeric_limits<int>::max()) return true;  // nothing is added up
  const int step = finest - static_cast<int>(grid);
  // Every sum is a normal float: smaller ones may be flushed to zero, larger ones are infinite.
  if (step < kLeastExponent || step + kMantissaBits > kMostExponent) return false;
  const double steps_of_weight = std::ldexp(double{kMostSteps}, -finest);
  for (size_t j = 0; j < bias.size(); ++j) {
    if (bias[j] != 0 && lowest_bit(bias[j]) < step) return false;
    double steps = std::ldexp(std::abs(double{bias[j]}), -step);
    for (size_t i = j; i < weights.size(); i += bias.size()) {
      steps += steps_of_weight * std::abs(double{weights[i]});
    }
    if (!(steps < kMost)) return false;
  }
  return true;
}

}  // namespace placeto
