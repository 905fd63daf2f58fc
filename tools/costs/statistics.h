// What is said of measurements.
#pragma once

#include <vector>

namespace placeto {

// Between the two middle values if there is an even number of them. 0 for none.
double median(std::vector<double> values);
// Nearest rank: the least value that at least `share` of all do not exceed. 0 for none.
double percentile(std::vector<double> values, double share);

}  // namespace placeto
