// ResNet-50. He et al., "Deep Residual Learning for Image Recognition", CVPR 2016, with the stride
// on the 3 x 3 convolution of a block (known as v1.5, the variant with published weights).
// 224 x 224 images.
#include "tools/workloads/image_blocks.h"
#include "tools/workloads/networks.h"

namespace placeto {
namespace {

Tensor bottleneck(NetworkBuilder& b, const std::string& name, Tensor x, uint64_t channels,
                  uint64_t stride, bool project) {
  Tensor y =
      conv_bn_relu(b, name + "/reduce", x, {.channels = channels, .kernel_h = 1, .kernel_w = 1});
  y = conv_bn_relu(b, name + "/3x3", y,
                   {.channels = channels, .kernel_h = 3, .kernel_w = 3, .stride = stride});
  y = conv_bn(b, name + "/expand", y, {.channels = 4 * channels, .kernel_h = 1, .kernel_w = 1});
  if (project) {
    x = conv_bn(b, name + "/project", x,
                {.channels = 4 * channels, .kernel_h = 1, .kernel_w = 1, .stride = stride});
  }
  return activation(b, name + "/relu", add(b, name + "/add", {y, x}), Nonlinearity::kRelu);
}

}  // namespace

Result<GraphSpec> build_resnet50(const WorkloadOptions& options) {
  NetworkBuilder b("resnet50", options);
  Tensor x = input(b, "images", {options.batch, 3, 224, 224});
  x = conv_bn_relu(b, "stem", x, {.channels = 64, .kernel_h = 7, .kernel_w = 7, .stride = 2});
  x = pool2d(b, "stem/pool", x, Pool::kMax, 3, 2, Padding::kSame);
  constexpr int kBlocks[4] = {3, 4, 6, 3};
  for (int stage = 0; stage < 4; ++stage) {
    for (int block = 0; block < kBlocks[stage]; ++block) {
      const std::string name = "stage" + std::to_string(stage + 1) + "/" + std::to_string(block);
      x = bottleneck(b, name, x, uint64_t{64} << stage, stage > 0 && block == 0 ? 2 : 1,
                     block == 0);
    }
  }
  classifier(b, x, kImageNetClasses);
  return b.finish();
}

}  // namespace placeto
