// NASNet-A (6 @ 4032), the large ImageNet model. Zoph et al., "Learning Transferable Architectures
// for Scalable Image Recognition", CVPR 2018: figure 4 (cells), appendix A.4; stem and alignment
// of a cell's older input as in the published model. 331 x 331 images.
#include "tools/workloads/image_blocks.h"
#include "tools/workloads/networks.h"

namespace placeto {
namespace {

constexpr uint64_t kFilters = 168;  // 4032 / 24: six concatenated tensors after two doublings
constexpr int kCellsPerStage = 6;

// What a cell reads: the output of the cell before and of the one before that.
struct CellInputs {
  Tensor current, previous;
};

// Both inputs with the cell's channels and the current input's height and width.
CellInputs align(NetworkBuilder& b, const std::string& name, CellInputs in, uint64_t filters) {
  const Shape current = b.shape(in.current), previous = b.shape(in.previous);
  if (in.previous.id == in.current.id) {
    // The first cell has one input: it is left as it is.
  } else if (previous[2] != current[2]) {
    in.previous = factorized_reduction(b, name + "/previous", in.previous, filters);
  } else if (previous[1] != filters) {
    in.previous = relu_conv_bn(b, name + "/previous", in.previous, filters);
  }
  in.current = relu_conv_bn(b, name + "/current", in.current, filters);
  return in;
}

Tensor average3(NetworkBuilder& b, const std::string& name, Tensor x, uint64_t stride) {
  return pool2d(b, name, x, Pool::kAverage, 3, stride, Padding::kSame);
}

Tensor max3(NetworkBuilder& b, const std::string& name, Tensor x) {
  return pool2d(b, name, x, Pool::kMax, 3, 2, Padding::kSame);
}

Tensor normal_cell(NetworkBuilder& b, const std::string& name, CellInputs in, uint64_t filters) {
  const auto [h, p] = align(b, name, in, filters);
  const auto separable = [&](const char* part, Tensor x, uint64_t kernel) {
    return separable_twice(b, name + part, x, filters, kernel, 1);
  };
  const Tensor x1 =
      add(b, name + "/1/add", {separable("/1/left", h, 5), separable("/1/right", p, 3)});
  const Tensor x2 =
      add(b, name + "/2/add", {separable("/2/left", p, 5), separable("/2/right", p, 3)});
  const Tensor x3 = add(b, name + "/3/add", {average3(b, name + "/3/left", h, 1), p});
  const Tensor x4 =
      add(b, name + "/4/add",
          {average3(b, name + "/4/left", p, 1), average3(b, name + "/4/right", p, 1)});
  const Tensor x5 = add(b, name + "/5/add", {separable("/5/left", h, 3), h});
  return concat(b, name + "/concat", {p, x1, x2, x3, x4, x5}, 1);
}

Tensor reduction_cell(NetworkBuilder& b, const std::string& name, CellInputs in, uint64_t filters) {
  const auto [h, p] = align(b, name, in, filters);
  const auto separable = [&](const char* part, Tensor x, uint64_t kernel, uint64_t stride) {
    return separable_twice(b, name + part, x, filters, kernel, stride);
  };
  const Tensor x1 =
      add(b, name + "/1/add", {separable("/1/left", h, 5, 2), separable("/1/right", p, 7, 2)});
  const Tensor x2 =
      add(b, name + "/2/add", {max3(b, name + "/2/left", h), separable("/2/right", p, 7, 2)});
  const Tensor x3 = add(b, name + "/3/add",
                        {average3(b, name + "/3/left", h, 2), separable("/3/right", p, 5, 2)});
  const Tensor x4 = add(b, name + "/4/add", {average3(b, name + "/4/left", x1, 1), x2});
  const Tensor x5 =
      add(b, name + "/5/add", {separable("/5/left", x1, 3, 1), max3(b, name + "/5/right", h)});
  return concat(b, name + "/concat", {x2, x3, x4, x5}, 1);
}

}  // namespace

Result<GraphSpec> build_nasnet_a_large(const WorkloadOptions& options) {
  NetworkBuilder b("nasnet_a_large", options);
  const Tensor images = input(b, "images", {options.batch, 3, 331, 331});
  const Tensor stem = conv_bn(
      b, "stem", images,
      {.channels = 96, .kernel_h = 3, .kernel_w = 3, .stride = 2, .padding = Padding::kValid});
  CellInputs in{reduction_cell(b, "stem1", {stem, stem}, kFilters / 4), stem};
  in = {reduction_cell(b, "stem2", in, kFilters / 2), in.current};
  for (int stage = 0; stage < 3; ++stage) {
    const uint64_t filters = kFilters << stage;
    const std::string name = "stage" + std::to_string(stage + 1);
    // The published model lets the cell behind a reduction read the reduction's older input.
    if (stage > 0) in = {reduction_cell(b, name + "/reduce", in, filters), in.previous};
    for (int cell = 0; cell < kCellsPerStage; ++cell) {
      const std::string part = name + "/" + std::to_string(cell);
      in = {normal_cell(b, part, in, filters), in.current};
    }
  }
  classifier(b, activation(b, "relu", in.current, Nonlinearity::kRelu), kImageNetClasses);
  return b.finish();
}

}  // namespace placeto
