#include "runtime/policy/net/grid.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <vector>

namespace placeto {
namespace {

constexpr int kBits = 24;                                  // of a float's mantissa
constexpr int kLeastExponent = -126, kMostExponent = 127;  // of normal floats

// The largest power of two that the number is a multiple of, as its exponent.
int lowest_bit(float x) {
  constexpr uint32_t kMantissa = 0x7fffff, kHidden = 0x800000;
  constexpr int kBias = 150;  // of the exponent, with 23 bits of fraction
  const auto bits = std::bit_cast<uint32_t>(x);
  const uint32_t exponent = bits >> 23 & 0xff;
  const uint32_t mantissa = exponent == 0 ? bits & kMantissa : (bits & kMantissa) | kHidden;
  return std::countr_zero(mantissa) + static_cast<int>(std::max(exponent, 1u)) - kBias;
}

}  // namespace

bool sums_are_exact(std::span<const float> weights, std::span<const float> bias, uint32_t grid) {
  constexpr double kMost = 1 << kBits;
  int finest = std::numeric_limits<int>::max();  // step of the weights
  for (const float w : weights) {
    if (w != 0) finest = std::min(finest, lowest_bit(w));
  }
  if (finest == std::numeric_limits<int>::max()) return true;  // nothing is added up
  const int step = finest - static_cast<int>(grid);
  // Every sum is a normal float: smaller ones may be flushed to zero, larger ones are infinite.
  if (step < kLeastExponent || step + kBits > kMostExponent) return false;
  std::vector<double> sum(bias.size());
  for (size_t j = 0; j < bias.size(); ++j) {
    if (bias[j] != 0 && lowest_bit(bias[j]) < step) return false;
    sum[j] = std::ldexp(std::abs(double{bias[j]}), -step);
  }
  const double steps_of_weight = std::ldexp(double{kMostSteps}, -finest);
  for (size_t i = 0; i < weights.size(); i += sum.size()) {
    for (size_t j = 0; j < sum.size(); ++j) {
      sum[j] += steps_of_weight * std::abs(double{weights[i + j]});
    }
  }
  return std::all_of(sum.begin(), sum.end(), [](double steps) { return steps < kMost; });
}

}  // namespace placeto
