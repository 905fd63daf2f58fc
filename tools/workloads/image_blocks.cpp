#include "tools/workloads/image_blocks.h"

namespace placeto {

Tensor conv_bn(NetworkBuilder& b, const std::string& name, Tensor x, const ConvSpec& spec) {
  return batch_norm(b, name + "/bn", conv2d(b, name + "/conv", x, spec));
}

Tensor conv_bn_relu(NetworkBuilder& b, const std::string& name, Tensor x, const ConvSpec& spec) {
  return activation(b, name + "/relu", conv_bn(b, name, x, spec), Nonlinearity::kRelu);
}

Tensor relu_conv_bn(NetworkBuilder& b, const std::string& name, Tensor x, uint64_t channels) {
  x = activation(b, name + "/relu", x, Nonlinearity::kRelu);
  return conv_bn(b, name, x, {.channels = channels, .kernel_h = 1, .kernel_w = 1});
}

Tensor separable_twice(NetworkBuilder& b, const std::string& name, Tensor x, uint64_t channels,
                       uint64_t kernel, uint64_t stride) {
  for (int i = 1; i <= 2; ++i) {
    const std::string part = name + "/" + std::to_string(i);
    x = activation(b, part + "/relu", x, Nonlinearity::kRelu);
    x = depthwise_conv2d(b, part + "/depthwise", x, kernel, i == 1 ? stride : 1);
    x = conv_bn(b, part + "/pointwise", x, {.channels = channels, .kernel_h = 1, .kernel_w = 1});
  }
  return x;
}

Tensor factorized_reduction(NetworkBuilder& b, const std::string& name, Tensor x,
                            uint64_t channels) {
  x = activation(b, name + "/relu", x, Nonlinearity::kRelu);
  std::vector<Tensor> halves;
  for (const auto& [part, half] :
       {std::pair{"/even", channels / 2}, std::pair{"/odd", channels - channels / 2}}) {
    // Same padding stands for the shift by one pixel that the odd half begins with.
    const Tensor pixels =
        pool2d(b, name + part + "/pixels", x, Pool::kAverage, 1, 2, Padding::kSame);
    halves.push_back(
        conv2d(b, name + part + "/conv", pixels, {.channels = half, .kernel_h = 1, .kernel_w = 1}));
  }
  return batch_norm(b, name + "/bn", concat(b, name + "/concat", std::move(halves), 1));
}

void classifier(NetworkBuilder& b, Tensor x, uint64_t classes) {
  x = global_average_pool(b, "pool", x);
  const Tensor logits = dense(b, "logits", x, classes);
  if (!b.training()) {
    softmax(b, "probabilities", logits);
    return;
  }
  const Tensor labels = input(b, "labels", {b.shape(x)[0]}, kIndexBytes);
  softmax_cross_entropy(b, "loss", logits, labels);
}

}  // namespace placeto
