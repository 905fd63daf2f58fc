// What image networks are made of: a few operators that always come together.
#pragma once

#include "tools/workloads/layers.h"

namespace placeto {

inline constexpr uint64_t kImageNetClasses = 1000;

Tensor conv_bn(NetworkBuilder& b, const std::string& name, Tensor x, const ConvSpec& spec);
Tensor conv_bn_relu(NetworkBuilder& b, const std::string& name, Tensor x, const ConvSpec& spec);
// Nonlinearity first, as in NASNet and ENAS: ReLU, 1x1 convolution, batch normalisation.
Tensor relu_conv_bn(NetworkBuilder& b, const std::string& name, Tensor x, uint64_t channels);
// Depthwise and pointwise convolution behind a ReLU, batch normalisation; twice, the stride on
// the first (Zoph et al. 2018, appendix A.4).
Tensor separable_twice(NetworkBuilder& b, const std::string& name, Tensor x, uint64_t channels,
                       uint64_t kernel, uint64_t stride);
// Halves height and width and sets the channels without losing every other pixel: two 1x1
// convolutions of pixels one apart, side by side; ReLU in front, batch normalisation behind.
Tensor factorized_reduction(NetworkBuilder& b, const std::string& name, Tensor x,
                            uint64_t channels);
// Global average pool and dense layer; in training the loss over fed labels, too.
void classifier(NetworkBuilder& b, Tensor x, uint64_t classes);

}  // namespace placeto
