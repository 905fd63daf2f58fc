#include "trainer/nn/exact.h"

#include <cmath>

#include "runtime/policy/net/grid.h"

namespace placeto::train {
namespace {

// A weight is of at most 255 steps, as activations are, and a bias of as many of its own as one
// input more may add: so sums of up to 257 inputs stay below 2^24. The runtime refuses wider layers
// whose weights are all that large.
constexpr double kWeightStep = 1.0 / 64;
constexpr double kMostBiasSteps = 255 * 255;

torch::Tensor rounded(const torch::Tensor& x, double step, double most_steps) {
  return torch::round(torch::clamp(x / step, -most_steps, most_steps)) * step;
}

// Rounded forward; backward as if nothing had been done to it.
torch::Tensor straight_through(const torch::Tensor& x, double step, double most_steps) {
  return x + (rounded(x, step, most_steps) - x).detach();
}

}  // namespace

torch::Tensor snapped(const torch::Tensor& x, uint32_t grid) {
  if (grid == 0) return x;
  const double step = std::ldexp(1.0, -static_cast<int>(grid)), most = double{kMostSteps} * step;
  const torch::Tensor bounded = torch::clamp(x, -most, most);  // beyond, nothing changes with x
  return bounded + (rounded(bounded, step, kMostSteps) - bounded).detach();
}

LayerWeights weights_of(const torch::nn::Linear& layer, double unit, uint32_t grid) {
  if (grid == 0) return {layer->weight * unit, layer->bias * unit};
  const double bias_step = std::ldexp(kWeightStep, -static_cast<int>(grid));
  return {straight_through(layer->weight, kWeightStep, kMostSteps) * unit,
          straight_through(layer->bias, bias_step, kMostBiasSteps) * unit};
}

double exact_unit(double unit, uint32_t grid) {
  return grid == 0 ? unit : std::exp2(std::round(std::log2(unit)));
}

}  // namespace placeto::train
