// Inception-V3. Szegedy et al., "Rethinking the Inception Architecture for Computer Vision",
// CVPR 2016; channel numbers as in the published TensorFlow model and torchvision, without the
// auxiliary classifier. 299 x 299 images.
#include "tools/workloads/image_blocks.h"
#include "tools/workloads/networks.h"

namespace placeto {
namespace {

// One convolution of a branch.
struct Step {
  uint64_t channels, kernel_h, kernel_w;
  uint64_t stride = 1;
  Padding padding = Padding::kSame;
};
constexpr Step halving(uint64_t channels) {
  return {channels, 3, 3, 2, Padding::kValid};
}

Tensor branch(NetworkBuilder& b, const std::string& name, Tensor x, std::vector<Step> steps) {
  int i = 0;
  for (const Step& s : steps) {
    x = conv_bn_relu(b, name + "/" + std::to_string(++i), x,
                     {.channels = s.channels,
                      .kernel_h = s.kernel_h,
                      .kernel_w = s.kernel_w,
                      .stride = s.stride,
                      .padding = s.padding});
  }
  return x;
}

Tensor pooled_branch(NetworkBuilder& b, const std::string& name, Tensor x, uint64_t channels) {
  x = pool2d(b, name + "/pool", x, Pool::kAverage, 3, 1, Padding::kSame);
  return branch(b, name, x, {{channels, 1, 1}});
}

Tensor halving_pool(NetworkBuilder& b, const std::string& name, Tensor x) {
  return pool2d(b, name, x, Pool::kMax, 3, 2, Padding::kValid);
}

// 35 x 35, figure 5 of the paper.
Tensor block_35(NetworkBuilder& b, const std::string& name, Tensor x, uint64_t pool_channels) {
  return concat(b, name + "/concat",
                {branch(b, name + "/1x1", x, {{64, 1, 1}}),
                 branch(b, name + "/5x5", x, {{48, 1, 1}, {64, 5, 5}}),
                 branch(b, name + "/3x3x2", x, {{64, 1, 1}, {96, 3, 3}, {96, 3, 3}}),
                 pooled_branch(b, name + "/pooled", x, pool_channels)},
                1);
}

// 17 x 17 with factorized 7 x 7 convolutions, figure 6.
Tensor block_17(NetworkBuilder& b, const std::string& name, Tensor x, uint64_t c) {
  return concat(
      b, name + "/concat",
      {branch(b, name + "/1x1", x, {{192, 1, 1}}),
       branch(b, name + "/7x7", x, {{c, 1, 1}, {c, 1, 7}, {192, 7, 1}}),
       branch(b, name + "/7x7x2", x, {{c, 1, 1}, {c, 7, 1}, {c, 1, 7}, {c, 7, 1}, {192, 1, 7}}),
       pooled_branch(b, name + "/pooled", x, 192)},
      1);
}

// 8 x 8 with the filter bank spread out, figure 7.
Tensor block_8(NetworkBuilder& b, const std::string& name, Tensor x) {
  const auto spread = [&b](const std::string& part, Tensor t) {
    return concat(
        b, part + "/spread",
        {branch(b, part + "/1x3", t, {{384, 1, 3}}), branch(b, part + "/3x1", t, {{384, 3, 1}})},
        1);
  };
  return concat(b, name + "/concat",
                {branch(b, name + "/1x1", x, {{320, 1, 1}}),
                 spread(name + "/3x3", branch(b, name + "/3x3", x, {{384, 1, 1}})),
                 spread(name + "/3x3x2", branch(b, name + "/3x3x2", x, {{448, 1, 1}, {384, 3, 3}})),
                 pooled_branch(b, name + "/pooled", x, 192)},
                1);
}

Tensor stem(NetworkBuilder& b, Tensor x) {
  x = branch(b, "stem/a", x,
             {{32, 3, 3, 2, Padding::kValid}, {32, 3, 3, 1, Padding::kValid}, {64, 3, 3}});
  x = halving_pool(b, "stem/pool_a", x);
  x = branch(b, "stem/b", x, {{80, 1, 1}, {192, 3, 3, 1, Padding::kValid}});
  return halving_pool(b, "stem/pool_b", x);
}

Tensor reduce_to_17(NetworkBuilder& b, const std::string& name, Tensor x) {
  return concat(b, name + "/concat",
                {branch(b, name + "/3x3", x, {halving(384)}),
                 branch(b, name + "/3x3x2", x, {{64, 1, 1}, {96, 3, 3}, halving(96)}),
                 halving_pool(b, name + "/pool", x)},
                1);
}

Tensor reduce_to_8(NetworkBuilder& b, const std::string& name, Tensor x) {
  return concat(b, name + "/concat",
                {branch(b, name + "/3x3", x, {{192, 1, 1}, halving(320)}),
                 branch(b, name + "/7x7", x, {{192, 1, 1}, {192, 1, 7}, {192, 7, 1}, halving(192)}),
                 halving_pool(b, name + "/pool", x)},
                1);
}

}  // namespace

Result<GraphSpec> build_inception_v3(const WorkloadOptions& options) {
  NetworkBuilder b("inception_v3", options);
  Tensor x = stem(b, input(b, "images", {options.batch, 3, 299, 299}));
  x = block_35(b, "35a", x, 32);
  x = block_35(b, "35b", x, 64);
  x = block_35(b, "35c", x, 64);
  x = reduce_to_17(b, "reduce_17", x);
  x = block_17(b, "17a", x, 128);
  x = block_17(b, "17b", x, 160);
  x = block_17(b, "17c", x, 160);
  x = block_17(b, "17d", x, 192);
  x = reduce_to_8(b, "reduce_8", x);
  x = block_8(b, "8a", x);
  x = block_8(b, "8b", x);
  classifier(b, x, kImageNetClasses);
  return b.finish();
}

}  // namespace placeto
