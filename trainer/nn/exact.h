// Exact-sum networks (runtime/policy/net/grid.h) under training: what is rounded in use is rounded
// on the way forward, and on the way back it is as if it were not, but for activations beyond their
// bound, which nothing changes (straight-through estimator: Bengio, Leonard and Courville, 2013,
// arXiv 1308.3432). Private to the files that include LibTorch.
#pragma once

#include <torch/torch.h>

#include <cstdint>

namespace placeto::train {

// x itself where grid is 0.
torch::Tensor snapped(const torch::Tensor& x, uint32_t grid);

// Weights [outputs, inputs] and bias [outputs] of a layer that computes in `unit`, as they count:
// rounded, where grid is above 0.
struct LayerWeights {
  torch::Tensor weight, bias;
};
LayerWeights weights_of(const torch::nn::Linear& layer, double unit, uint32_t grid);

// The unit, or the power of two next to it where grid is above 0.
double exact_unit(double unit, uint32_t grid);

}  // namespace placeto::train
