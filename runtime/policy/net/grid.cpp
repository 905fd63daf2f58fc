#include "runtime/policy/net/grid.h"

#include <bit>
#include <cmath>
#include <limits>
#include <vector>

namespace placeto {
namespace {

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
  constexpr double kMost = 1 << 24;
  int finest = std::numeric_limits<int>::max();  // step of the weights
  for (const float w : weights) {
    if (w != 0) finest = std::min(finest, lowest_bit(w));
  }
  if (finest == std::numeric_limits<int>::max()) return true;  // nothing is added up
  const int step = finest - static_cast<int>(grid);
  std::vector<double> sum(bias.size());
  for (size_t j = 0; j < bias.size(); ++j) {
    if (bias[j] != 0 && lowest_bit(bias[j]) < step) return false;
    sum[j] = std::ldexp(std::abs(double{bias[j]}), -step);
  }
  for (size_t i = 0; i < weights.size(); ++i) {
    double& of_output = sum[i % bias.size()];
    of_output += double{kMostSteps} * std::ldexp(std::abs(double{weights[i]}), -finest);
  }
  return std::all_of(sum.begin(), sum.end(), [](double steps) { return steps < kMost; });
}

}  // namespace placeto
