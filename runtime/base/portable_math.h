// Transcendental functions that give the same bits on every machine. The C library's differ from
// one version and architecture to the next, and a search that draws on them would place
// differently.
#pragma once

#include <cmath>

namespace placeto {

// Natural logarithm of x > 0, finite: exponent by frexp (exact), mantissa by the series of
// 2 artanh((m - 1) / (m + 1)) with m in [sqrt(1/2), sqrt(2)). Relative error below 1e-11.
inline double portable_log(double x) {
  constexpr double kLn2 = 0.69314718055994530942, kSqrtHalf = 0.70710678118654752440;
  int exponent = 0;
  double m = std::frexp(x, &exponent);
  if (m < kSqrtHalf) {
    m *= 2;
    --exponent;
  }
  const double z = (m - 1) / (m + 1), zz = z * z;
  double sum = 0;
  for (int k = 15; k >= 1; k -= 2) sum = sum * zz + 1.0 / k;
  return 2 * z * sum + exponent * kLn2;
}

}  // namespace placeto
