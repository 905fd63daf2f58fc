// Exact-sum networks: sums that come out the same in any order, fused or not.
//
// Activations are whole multiples of a step, 2^-grid, at most 255 of them from 0; weights and
// biases are whole multiples of steps of their own, powers of two as well. Then every partial sum
// of a layer is a whole multiple of the product of both steps, and where it is less than 2^24 of
// them a float holds it exactly. So every kernel, on every processor, returns the same bits; what
// lies between layers (rounding to the grid, sums over neighbours, means) is computed in one order.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace placeto {

inline constexpr float kMostSteps = 255;

// Each to the nearest step (ties to an even number of them) that is within the bound; nothing
// changes where grid is 0.
void snap(float* x, size_t count, uint32_t grid);

// Whether a layer's sums are exact: of every output, 255 steps times the sum of its weights'
// magnitudes, and its bias, are below 2^24 of the layer's steps, the bias is a multiple of one, and
// neither is a step a subnormal float nor are 2^24 of them infinite. weights: [inputs, outputs],
// row-major; bias: [outputs]; all finite.
bool sums_are_exact(std::span<const float> weights, std::span<const float> bias, uint32_t grid);

}  // namespace placeto
