// Convolutions, pooling and batch normalisation over N, C, H, W.
#include <cassert>

#include "tools/workloads/layers.h"

namespace placeto {
namespace {

uint64_t output_size(uint64_t size, uint64_t kernel, uint64_t stride, Padding padding) {
  if (padding == Padding::kSame) return (size + stride - 1) / stride;
  assert(size >= kernel);
  return (size - kernel) / stride + 1;
}

Shape output_shape(const Shape& x, uint64_t channels, uint64_t kernel_h, uint64_t kernel_w,
                   uint64_t stride, Padding padding) {
  return {x[0], channels, output_size(x[2], kernel_h, stride, padding),
          output_size(x[3], kernel_w, stride, padding)};
}

// filter_elements: of one output element; op names the operator and, extended, its gradients.
Tensor convolution(NetworkBuilder& b, const std::string& name, const std::string& op, Tensor x,
                   const Shape& shape, uint64_t filter_elements) {
  const Variable weight = b.variable(name + "/weight", product({shape[1], filter_elements}));
  const uint64_t flops = product({2, elements(shape), filter_elements});
  const Tensor y = b.record1({.name = name,
                              .op = op,
                              .inputs = {x},
                              .outputs = {{shape}},
                              .variables = {weight},
                              .flops = flops});
  b.add_backward(y, {.op = op + "GradInput", .reads = {weight}, .inputs = {0}, .flops = flops});
  b.add_backward(y, {.op = op + "GradWeight", .saved = {x}, .variables = {weight}, .flops = flops});
  return y;
}

}  // namespace

Tensor conv2d(NetworkBuilder& b, const std::string& name, Tensor x, const ConvSpec& spec) {
  const Shape shape = output_shape(b.shape(x), spec.channels, spec.kernel_h, spec.kernel_w,
                                   spec.stride, spec.padding);
  return convolution(b, name, "Conv2D", x, shape,
                     product({b.shape(x)[1], spec.kernel_h, spec.kernel_w}));
}

Tensor depthwise_conv2d(NetworkBuilder& b, const std::string& name, Tensor x, uint64_t kernel,
                        uint64_t stride) {
  const Shape shape =
      output_shape(b.shape(x), b.shape(x)[1], kernel, kernel, stride, Padding::kSame);
  return convolution(b, name, "DepthwiseConv2D", x, shape, product({kernel, kernel}));
}

Tensor batch_norm(NetworkBuilder& b, const std::string& name, Tensor x) {
  const Shape shape = b.shape(x);
  const Variable scale = b.variable(name + "/scale", shape[1]);
  const Variable shift = b.variable(name + "/shift", shape[1]);
  const Variable moments = b.variable(name + "/moments", product({2, shape[1]}), false);
  // Inference: one multiply-add with the folded scale. Training: also mean 1 and variance 3,
  // normalise 2; the gradient takes two reductions and five operations per element.
  const uint64_t n = elements(shape);
  const Tensor y = b.record1({.name = name,
                              .op = "BatchNorm",
                              .inputs = {x},
                              .outputs = {{shape}},
                              .variables = {scale, shift, moments},
                              .flops = product({n, b.training() ? uint64_t{8} : uint64_t{2}})});
  b.add_backward(y, {.op = "BatchNormGrad",
                     .saved = {x},
                     .reads = {scale},
                     .inputs = {0},
                     .variables = {scale, shift},
                     .flops = product({n, 11})});
  return y;
}

Tensor pool2d(NetworkBuilder& b, const std::string& name, Tensor x, Pool kind, uint64_t kernel,
              uint64_t stride, Padding padding) {
  const Shape shape = output_shape(b.shape(x), b.shape(x)[1], kernel, kernel, stride, padding);
  const std::string op = kind == Pool::kMax ? "MaxPool" : "AvgPool";
  const uint64_t flops = product({elements(shape), kernel, kernel});
  const Tensor y =
      b.record1({.name = name, .op = op, .inputs = {x}, .outputs = {{shape}}, .flops = flops});
  BackwardNode backward{.op = op + "Grad", .inputs = {0}, .flops = flops};
  if (kind == Pool::kMax) backward.saved = {x, y};  // to find which element won
  b.add_backward(y, std::move(backward));
  return y;
}

Tensor global_average_pool(NetworkBuilder& b, const std::string& name, Tensor x) {
  const Shape shape = b.shape(x);
  const uint64_t n = elements(shape);
  const Tensor y = b.record1({.name = name,
                              .op = "GlobalAvgPool",
                              .inputs = {x},
                              .outputs = {{{shape[0], shape[1]}}},
                              .flops = n});
  b.add_backward(y, {.op = "GlobalAvgPoolGrad", .inputs = {0}, .flops = n});
  return y;
}

}  // namespace placeto
