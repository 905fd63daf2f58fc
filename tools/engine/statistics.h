// What is said of measurements.
#pragma once

#include <span>
#include <vector>

namespace placeto {

// Between the two middle values if there is an even number of them. 0 for none.
double median(std::vector<double> values);
// Nearest rank: the least value that at least `share` of all do not exceed. 0 for none.
double percentile(std::vector<double> values, double share);

// Kendall's tau of pairs: 1 where every pair of measurements is in the order that was predicted, -1
// where none is. Only pairs whose measurements differ by at least `least_gap` of the smaller count,
// as the order of equal ones is noise; a pair predicted equal counts 0. `pairs`: how many counted.
double kendall_tau(std::span<const double> predicted, std::span<const double> measured,
                   double least_gap, int* pairs = nullptr);

}  // namespace placeto
