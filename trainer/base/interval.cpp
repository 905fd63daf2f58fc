#include "trainer/base/interval.h"

#include <cmath>
#include <limits>

namespace placeto::train {

// From three degrees on the expansion around the normal quantile z that Abramowitz and Stegun,
// Handbook of Mathematical Functions, give as 26.7.5, to the third order: 0.7% off at three
// degrees, less at more. One and two degrees have closed forms, with these values.
double student_t(uint32_t degrees) {
  if (degrees == 1) return 12.7062;
  if (degrees == 2) return 4.3027;
  constexpr double z = 1.959964, z2 = z * z;
  constexpr double first = z * (z2 + 1) / 4;
  constexpr double second = z * ((5 * z2 + 16) * z2 + 3) / 96;
  constexpr double third = z * (((3 * z2 + 19) * z2 + 17) * z2 - 15) / 384;
  const double n = degrees;
  return z + (first + (second + third / n) / n) / n;
}

MeanInterval mean_interval(std::span<const double> values) {
  const auto n = double(values.size());
  double mean = 0, squares = 0;
  for (const double v : values) mean += v / n;
  for (const double v : values) squares += (v - mean) * (v - mean);
  if (values.size() < 2) return {mean, std::numeric_limits<double>::quiet_NaN()};
  const double t = student_t(static_cast<uint32_t>(values.size() - 1));
  return {mean, t * std::sqrt(squares / (n - 1) / n)};
}

}  // namespace placeto::train
