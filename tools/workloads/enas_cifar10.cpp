// Random convolutional networks from the "micro" search space of ENAS. Pham et al., "Efficient
// Neural Architecture Search via Parameter Sharing", ICML 2018, section 2.4: a cell has two inputs
// (the outputs of the two cells before it) and five nodes; each node adds two of {identity,
// separable convolution 3x3 or 5x5, average or maximum pooling 3x3} of two earlier tensors; the
// tensors that no node reads are concatenated. One normal and one reduction cell are drawn from
// the seed; three stages of normal cells with a reduction between them read 32 x 32 images.
#include <array>

#include "runtime/base/random.h"
#include "tools/workloads/image_blocks.h"
#include "tools/workloads/networks.h"

namespace placeto {
namespace {

constexpr uint32_t kCellNodes = 5, kOperations = 5, kStages = 3;
constexpr uint64_t kClasses = 10;

struct CellNode {
  std::array<uint32_t, 2> source, operation;  // sources 0 and 1 are the cell's inputs
};
using Cell = std::array<CellNode, kCellNodes>;

Cell draw_cell(Random& random) {
  Cell cell;
  for (uint32_t i = 0; i < kCellNodes; ++i) {
    for (int side = 0; side < 2; ++side) {
      cell[i].source[side] = random.below(i + 2);
      cell[i].operation[side] = random.below(kOperations);
    }
  }
  return cell;
}

Tensor apply(NetworkBuilder& b, const std::string& name, uint32_t operation, Tensor x,
             uint64_t stride) {
  const uint64_t channels = b.shape(x)[1];
  switch (operation) {
    case 0:
      return stride == 1 ? x : factorized_reduction(b, name + "/reduce", x, channels);
    case 1:
      return separable_twice(b, name + "/sep3", x, channels, 3, stride);
    case 2:
      return separable_twice(b, name + "/sep5", x, channels, 5, stride);
    case 3:
      return pool2d(b, name + "/avg", x, Pool::kAverage, 3, stride, Padding::kSame);
    default:
      return pool2d(b, name + "/max", x, Pool::kMax, 3, stride, Padding::kSame);
  }
}

// x with `filters` channels and the height and width of `like`.
Tensor calibrate(NetworkBuilder& b, const std::string& name, Tensor x, Tensor like,
                 uint64_t filters) {
  if (b.shape(x)[2] != b.shape(like)[2]) return factorized_reduction(b, name, x, filters);
  return relu_conv_bn(b, name, x, filters);
}

struct Inputs {
  Tensor previous, current;
};

Tensor build_cell(NetworkBuilder& b, const std::string& name, const Cell& cell, Inputs in,
                  uint64_t filters, uint64_t stride) {
  std::vector<Tensor> tensors = {calibrate(b, name + "/previous", in.previous, in.current, filters),
                                 calibrate(b, name + "/current", in.current, in.current, filters)};
  std::array<bool, kCellNodes + 2> used{};
  for (uint32_t i = 0; i < kCellNodes; ++i) {
    const std::string node = name + "/" + std::to_string(i);
    std::vector<Tensor> sides;
    for (int side = 0; side < 2; ++side) {
      const uint32_t source = cell[i].source[side];
      used[source] = true;
      sides.push_back(apply(b, node + (side == 0 ? "/left" : "/right"), cell[i].operation[side],
                            tensors[source], source < 2 ? stride : 1));
    }
    tensors.push_back(add(b, node + "/add", std::move(sides)));
  }
  std::vector<Tensor> loose;
  for (uint32_t i = 2; i < tensors.size(); ++i) {
    if (!used[i]) loose.push_back(tensors[i]);
  }
  return loose.size() == 1 ? loose[0] : concat(b, name + "/concat", std::move(loose), 1);
}

}  // namespace

Result<GraphSpec> build_enas_cifar10(const WorkloadOptions& options) {
  Random random(options.seed);
  const Cell normal = draw_cell(random), reduction = draw_cell(random);
  NetworkBuilder b("enas_cifar10_" + std::to_string(options.seed), options);
  uint64_t filters = options.hidden;
  const Tensor stem = conv_bn(b, "stem", input(b, "images", {options.batch, 3, 32, 32}),
                              {.channels = 3 * filters, .kernel_h = 3, .kernel_w = 3});
  Inputs in{stem, stem};
  for (uint32_t stage = 0; stage < kStages; ++stage) {
    const std::string name = "stage" + std::to_string(stage + 1);
    if (stage > 0) {
      filters *= 2;
      in = {in.current, build_cell(b, name + "/reduce", reduction, in, filters, 2)};
    }
    for (uint32_t i = 0; i < options.layers; ++i) {
      const std::string cell = name + "/" + std::to_string(i);
      in = {in.current, build_cell(b, cell, normal, in, filters, 1)};
    }
  }
  classifier(b, activation(b, "relu", in.current, Nonlinearity::kRelu), kClasses);
  return b.finish();
}

}  // namespace placeto
