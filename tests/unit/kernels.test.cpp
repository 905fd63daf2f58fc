#include "runtime/policy/net/kernels.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <iterator>
#include <limits>
#include <vector>

#include "runtime/base/random.h"
#include "runtime/policy/net/dense_portable.h"

using namespace placeto;

namespace {

std::vector<float> signed_floats(size_t count, Random& random) {
  std::vector<float> values(count);
  for (float& v : values) v = static_cast<float>(2 * random.uniform() - 1);
  return values;
}

// A layer with numbers to run it on. Rows are `gap` floats further apart than they are long.
struct Case {
  Case(uint32_t row_count, uint32_t inputs, uint32_t outputs, Activation activation,
       uint32_t gap = 0)
      : random(row_count * 10'007u + inputs * 101u + outputs),
        rows(row_count),
        x_stride(inputs + gap),
        y_stride(outputs + gap),
        weights(signed_floats(size_t{inputs} * outputs, random)),
        bias(signed_floats(outputs, random)),
        x(signed_floats(rows * x_stride, random)),
        layer{inputs, outputs, weights.data(), bias.data(), activation} {}

  std::vector<float> empty_result() const {
    return std::vector<float>(rows * y_stride, kUntouched);
  }

  std::vector<float> run(const PortableDense& variant) const {
    std::vector<float> y = empty_result();
    variant.run(layer, x.data(), x_stride, y.data(), y_stride, rows);
    return y;
  }
  std::vector<float> run(Kernels& kernels) const {
    std::vector<float> y = empty_result();
    kernels.dense(layer, x.data(), x_stride, y.data(), y_stride, rows);
    return y;
  }

  // The definition, in float64; also how large the terms of the sum are, to judge rounding by.
  struct Exact {
    double value, magnitude;
  };
  Exact exact(uint32_t row, uint32_t column) const {
    Exact sum{bias[column], std::abs(bias[column])};
    for (uint32_t k = 0; k < layer.inputs; ++k) {
      const double term =
          double{x[row * x_stride + k]} * weights[size_t{k} * layer.outputs + column];
      sum.value += term;
      sum.magnitude += std::abs(term);
    }
    if (layer.activation == Activation::kRelu && sum.value < 0) sum.value = 0;
    return sum;
  }

  void check_against_float64(const std::vector<float>& y) const {
    for (uint32_t row = 0; row < rows; ++row) {
      for (uint32_t column = 0; column < layer.outputs; ++column) {
        const Exact expected = exact(row, column);
        REQUIRE(std::abs(y[row * y_stride + column] - expected.value) <= 1e-5 * expected.magnitude);
      }
      for (size_t i = row * y_stride + layer.outputs; i < (row + 1) * y_stride; ++i) {
        REQUIRE(y[i] == kUntouched);  // nothing is written between the rows
      }
    }
  }

  // The promised order of operations, each rounded to float: volatile forbids to fuse them.
  std::vector<float> in_promised_order() const {
    std::vector<float> y = empty_result();
    for (uint32_t row = 0; row < rows; ++row) {
      for (uint32_t column = 0; column < layer.outputs; ++column) {
        volatile float sum = bias[column];
        for (uint32_t k = 0; k < layer.inputs; ++k) {
          const volatile float product =
              x[row * x_stride + k] * weights[size_t{k} * layer.outputs + column];
          sum = sum + product;
        }
        const float value = sum;
        const bool keep = layer.activation == Activation::kNone || value > 0;
        y[row * y_stride + column] = keep ? value : 0;
      }
    }
    return y;
  }

  static constexpr float kUntouched = 12345;

  Random random;
  uint32_t rows;
  size_t x_stride, y_stride;
  std::vector<float> weights, bias, x;
  DenseLayer layer;
};

bool same_bits(const std::vector<float>& a, const std::vector<float>& b) {
  const auto bits = [](float v) { return std::bit_cast<uint32_t>(v); };
  return std::ranges::equal(a, b, {}, bits, bits);
}

constexpr uint32_t kRows[] = {0, 1, 2, 3, 4, 5, 7, 8, 9, 31, 64, 300};
constexpr uint32_t kWidths[] = {1, 2, 3, 4, 5, 8, 15, 16, 17, 24, 32, 33, 40, 64, 100};

}  // namespace

TEST_CASE("dense layers of every shape agree with float64 on every implementation") {
  Kernels portable(KernelChoice::kPortable);
  for (const uint32_t rows : kRows) {
    for (const uint32_t inputs : kWidths) {
      for (const uint32_t outputs : kWidths) {
        const Case c(rows, inputs, outputs, rows % 2 ? Activation::kRelu : Activation::kNone,
                     rows % 3);
        c.check_against_float64(c.run(portable));
      }
    }
  }
  for (const uint32_t rows : {1u, 5u, 64u, 300u}) {
    Kernels onednn(KernelChoice::kOneDnn);
    Kernels automatic(KernelChoice::kAuto);
    for (const uint32_t inputs : {1u, 17u, 32u}) {
      for (const uint32_t outputs : {1u, 16u, 33u}) {
        const Case c(rows, inputs, outputs, Activation::kRelu, rows % 3);
        c.check_against_float64(c.run(onednn));
        c.check_against_float64(c.run(automatic));
      }
    }
  }
}

TEST_CASE("portable dense layers have the bits of the promised order of sums on every processor") {
  for (const uint32_t rows : kRows) {
    for (const uint32_t inputs : {1u, 16u, 33u}) {
      for (const uint32_t outputs : kWidths) {
        const Case c(rows, inputs, outputs, Activation::kRelu);
        const std::vector<float> expected = c.in_promised_order();
        for (const PortableDense& variant : portable_dense_variants()) {
          CAPTURE(variant.name);
          REQUIRE(same_bits(c.run(variant), expected));
        }
      }
    }
  }
}

TEST_CASE("a fused multiply-add would change the bits that the order test compares") {
  // Guards the test above: if fusing made no difference, it would prove nothing.
  const Case c(1, 33, 64, Activation::kNone);
  const std::vector<float> separate = c.in_promised_order();
  int different = 0;
  for (uint32_t n = 0; n < 64; ++n) {
    float fused = c.bias[n];
    for (uint32_t k = 0; k < 33; ++k) fused = std::fma(c.x[k], c.weights[k * 64 + n], fused);
    different += fused != separate[n];
  }
  CHECK(different > 16);
}

TEST_CASE("a layer over concatenated inputs may be computed in two steps with equal bits") {
  const Case whole(5, 48, 32, Activation::kRelu);
  Kernels kernels(KernelChoice::kPortable);
  DenseLayer first = whole.layer;
  first.inputs = 20;
  first.activation = Activation::kNone;
  const std::vector<float> expected = whole.run(kernels);
  for (uint32_t row = 0; row < whole.rows; ++row) {
    const float* x = whole.x.data() + row * whole.x_stride;
    std::vector<float> partial(32), y(32);
    kernels.dense(first, x, 20, partial.data(), 32, 1);
    const DenseLayer second{28, 32, whole.weights.data() + 20 * 32, partial.data(),
                            Activation::kRelu};
    kernels.dense(second, x + 20, 28, y.data(), 32, 1);
    CHECK(std::memcmp(y.data(), expected.data() + row * 32, 32 * sizeof(float)) == 0);
  }
}

TEST_CASE("the portable ReLU turns NaN into 0 and keeps infinity") {
  for (const PortableDense& variant : portable_dense_variants()) {
    for (const uint32_t outputs : {1u, 4u, 16u, 32u, 64u}) {
      Case c(5, 2, outputs, Activation::kRelu);
      c.x[0] = std::numeric_limits<float>::quiet_NaN();
      c.x[2] = std::numeric_limits<float>::infinity();
      c.weights[0] = 1;
      const std::vector<float> y = c.run(variant);
      CHECK(y[0] == 0);
      CHECK(y[outputs] == std::numeric_limits<float>::infinity());
    }
  }
}

TEST_CASE("oneDNN compiles a shape once and stops caching at its limit") {
  if (!Kernels::onednn_available()) return;
  Kernels kernels(KernelChoice::kOneDnn);
  for (int repeat = 0; repeat < 3; ++repeat) {
    const Case c(8, 16, 16, Activation::kRelu);
    c.check_against_float64(c.run(kernels));
    CHECK(kernels.cached_primitives() == 1);
  }
  for (uint32_t rows = 1; rows <= Kernels::kMaxPrimitives + 10; ++rows) {
    const Case c(rows, 2, 3, Activation::kNone);
    c.check_against_float64(c.run(kernels));
  }
  CHECK(kernels.cached_primitives() == Kernels::kMaxPrimitives);
}

TEST_CASE("the choice of kernels follows the size of the work") {
  const Case c(1, 32, 32, Activation::kRelu);
  const Kernels portable(KernelChoice::kPortable), automatic(KernelChoice::kAuto);
  CHECK(portable.choose(c.layer, 4096) == KernelChoice::kPortable);
  CHECK(automatic.choose(c.layer, 1) == KernelChoice::kPortable);
  CHECK(automatic.choose(c.layer, 4096) ==
        (Kernels::onednn_available() ? KernelChoice::kOneDnn : KernelChoice::kPortable));
}

#if defined(__linux__)
TEST_CASE("large dense layers create no threads") {
  const auto threads = [] {
    const std::filesystem::directory_iterator tasks("/proc/self/task");
    return std::distance(begin(tasks), end(tasks));
  };
  const auto before = threads();
  Kernels kernels(KernelChoice::kOneDnn);
  const Case c(4096, 64, 64, Activation::kRelu);
  std::vector<float> y = c.empty_result();
  for (int i = 0; i < 3; ++i) {
    kernels.dense(c.layer, c.x.data(), c.x_stride, y.data(), c.y_stride, c.rows);
    CHECK(threads() == before);
  }
}
#endif
