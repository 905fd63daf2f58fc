// How predicted times compare, where a graph may take no time at all: costs of 0 are valid.
#pragma once

#include <algorithm>
#include <cmath>

namespace placeto::train {

// How many times as long as another a time is: 1 if both are the same, and within bounds that no
// sensible pair reaches, so that it and its logarithm are finite. A time that is infinite or none,
// of what was not placed, stays so.
inline double time_ratio(double us, double of_us) {
  if (!std::isfinite(us)) return us;
  return us == of_us ? 1 : std::clamp(us / of_us, 1e-6, 1e6);
}

inline double log_ratio(double us, double of_us) {
  return std::log(time_ratio(us, of_us));
}

// The logarithm of a time by itself.
inline double log_time(double us) {
  return std::log(std::max(us, 1e-6));
}

}  // namespace placeto::train
