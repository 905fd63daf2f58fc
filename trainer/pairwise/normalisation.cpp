#include "trainer/pairwise/normalisation.h"

#include <algorithm>
#include <cmath>
#include <span>

namespace placeto::train {
namespace {

// Sums of columns of many matrices of equal width.
class Moments {
 public:
  explicit Moments(size_t width) : sum_(width), squares_(width) {}

  void add(std::span<const float> rows) {
    for (size_t i = 0; i < rows.size(); ++i) {
      const double x = rows[i];
      sum_[i % sum_.size()] += x;
      squares_[i % sum_.size()] += x * x;
    }
    rows_ += static_cast<double>(rows.size() / sum_.size());
  }

  Columns columns() const {
    Columns c{std::vector<float>(sum_.size(), 0), std::vector<float>(sum_.size(), 1)};
    for (size_t i = 0; i < sum_.size() && rows_ > 0; ++i) {
      const double mean = sum_[i] / rows_,
                   deviation = std::sqrt(std::max(0.0, squares_[i] / rows_ - mean * mean));
      c.shift[i] = static_cast<float>(mean);
      if (deviation > 1e-3) c.scale[i] = static_cast<float>(1 / deviation);
    }
    return c;
  }

 private:
  std::vector<double> sum_, squares_;
  double rows_ = 0;
};

}  // namespace

Normalisation measure_normalisation(const Samples& samples) {
  Moments pair(kPairFeatures), node(kNodeFeatures);
  pair.add(samples.rows);
  for (const auto& state : samples.graphs) node.add(state->rows);
  return {pair.columns(), node.columns()};
}

}  // namespace placeto::train
