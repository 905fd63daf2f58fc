#include "tools/engine/statistics.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace placeto {

double median(std::vector<double> values) {
  if (values.empty()) return 0;
  std::sort(values.begin(), values.end());
  const size_t middle = values.size() / 2;
  return values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

double percentile(std::vector<double> values, double share) {
  if (values.empty()) return 0;
  std::sort(values.begin(), values.end());
  const double rank = std::ceil(share * static_cast<double>(values.size()));
  const size_t index = rank < 1 ? 0 : static_cast<size_t>(rank) - 1;
  return values[std::min(index, values.size() - 1)];
}

double kendall_tau(std::span<const double> predicted, std::span<const double> measured,
                   double least_gap, int* pairs) {
  int sum = 0, counted = 0;
  for (size_t i = 0; i < measured.size(); ++i) {
    for (size_t j = i + 1; j < measured.size(); ++j) {
      const double low = std::min(measured[i], measured[j]);
      if (std::abs(measured[i] - measured[j]) < least_gap * low) continue;
      ++counted;
      if (predicted[i] == predicted[j]) continue;
      sum += (predicted[i] < predicted[j]) == (measured[i] < measured[j]) ? 1 : -1;
    }
  }
  if (pairs != nullptr) *pairs = counted;
  return counted > 0 ? static_cast<double>(sum) / counted : 0;
}

}  // namespace placeto
