// How well a mean of independent values is known.
#pragma once

#include <cstdint>
#include <span>

namespace placeto::train {

// What Student's t stays within with 95% probability: its quantile of 97.5%, to 1%. There is a
// degree of freedom, at least.
double student_t(uint32_t degrees);

// Half the width of the 95% interval is not a number for one value, which does not tell how far
// values are apart.
struct MeanInterval {
  double mean = 0, half_width = 0;
};
MeanInterval mean_interval(std::span<const double> values);

}  // namespace placeto::train
