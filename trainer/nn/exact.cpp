#include "trainer/nn/exact.h"

#include <cmath>

#include "runtime/policy/net/grid.h"

namespace placeto::train {
namespace {

// A weight is of at most 255 steps, as activations are: 256 inputs keep sums below 2^24, biases
// included.
constexpr double kWeightStep = 1.0 / 64;
constexpr double kMostBias = 64;

torch::Tensor rounded(const torch::Tensor& x, double step, double most) {
  const torch::Tensor bounded = torch::clamp(x, -most, most);
  return bounded + (torch::round(bounded / step) * step - bounded).detach();
}

}  // namespace

torch::Tensor snapped(const torch::Tensor& x, uint32_t grid) {
  if (grid == 0) return x;
  const double step = std::ldexp(1.0, -static_cast<int>(grid));
  return rounded(x, step, double{kMostSteps} * step);
}

LayerWeights weights_of(const torch::nn::Linear& layer, double unit, uint32_t grid) {
  if (grid == 0) return {layer->weight * unit, layer->bias * unit};
  const double bias_step = std::ldexp(kWeightStep, -static_cast<int>(grid));
  return {rounded(layer->weight, kWeightStep, double{kMostSteps} * kWeightStep) * unit,
          rounded(layer->bias, bias_step, kMostBias) * unit};
}

double exact_unit(double unit, uint32_t grid) {
  return grid == 0 ? unit : std::exp2(std::round(std::log2(unit)));
}

}  // namespace placeto::train
