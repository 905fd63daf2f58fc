#include "runtime/policy/net/grid.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <tuple>
#include <vector>

#include "runtime/base/random.h"
#include "runtime/base/sha256.h"
#include "runtime/format/buffer.h"
#include "runtime/policy/net/dense_portable.h"
#include "runtime/policy/net/network.h"

using namespace placeto;

namespace {

constexpr uint32_t kGrid = 5;
constexpr float kStep = 1.0f / 32, kWeightStep = 1.0f / 64;

// Whole multiples of a step, `most` of them from 0 at most.
std::vector<float> multiples(size_t count, float step, uint32_t most, Random& random) {
  std::vector<float> values(count);
  for (float& v : values) {
    v = step * (static_cast<float>(random.below(2 * most + 1)) - static_cast<float>(most));
  }
  return values;
}

// A layer of an exact-sum network, as large as it may be.
struct ExactLayer {
  ExactLayer(uint32_t inputs, uint32_t outputs, uint64_t seed)
      : random(seed),
        weights(multiples(size_t{inputs} * outputs, kWeightStep, 255, random)),
        bias(multiples(outputs, kStep * kWeightStep, 100'000, random)),
        layer{inputs, outputs, weights.data(), bias.data(), Activation::kRelu} {}
  Random random;
  std::vector<float> weights, bias;
  DenseLayer layer;
};

// Encoder, messages in both directions and rounds on a random graph, all on the grid.
struct ExactGraphNetwork {
  static constexpr uint32_t kNodes = 600, kFeatures = 10, kWidth = 16, kHidden = 32;
  ExactGraphNetwork() : random(7) {
    network.encoder = mlp({kFeatures, kHidden, kWidth});
    network.along = {mlp({kWidth, kHidden, kWidth}), mlp({kWidth, kHidden, kWidth})};
    network.against = {mlp({kWidth, kHidden, kWidth}), mlp({kWidth, kHidden, kWidth})};
    network.rounds = 3;
    for (uint32_t v = 0; v < kNodes; ++v) {
      for (uint32_t i = 0; v > 0 && i < 3; ++i) senders.push_back(random.below(v));
      offset.push_back(static_cast<uint32_t>(senders.size()));
    }
    features = multiples(size_t{kNodes} * kFeatures, kStep, 255, random);
  }
  Mlp mlp(std::vector<uint32_t> widths) {
    std::vector<DenseLayer> dense;
    for (size_t i = 0; i + 1 < widths.size(); ++i) {
      layers.push_back(std::make_unique<ExactLayer>(widths[i], widths[i + 1], random.next()));
      // Small, so that sums do not all end at the bound.
      for (float& w : layers.back()->weights) w = std::round(w * 64 / 8) / 64;
      dense.push_back(layers.back()->layer);
      if (i + 2 == widths.size()) dense.back().activation = Activation::kNone;
    }
    return Mlp(dense, kGrid);
  }
  std::vector<float> run(KernelChoice choice) const {
    Kernels kernels(choice);
    Workspace workspace;
    network.plan(kNodes, workspace);
    std::vector<float> x(size_t{kNodes} * kWidth);
    const Lists lists{offset, senders};
    network.embed(features.data(), kFeatures, lists, lists, x.data(), kernels, workspace);
    return x;
  }
  Random random;
  std::vector<std::unique_ptr<ExactLayer>> layers;
  GraphNetwork network;
  std::vector<uint32_t> offset{0}, senders;
  std::vector<float> features;
};

}  // namespace

TEST_CASE("activations go to the nearest step within the bound, ties to an even one") {
  const float infinity = std::numeric_limits<float>::infinity();
  std::vector<float> x = {0,     0.49f, 0.5f, 0.51f,     1.5f,    2.5f,
                          -0.5f, -1.5f, 1e9f, -infinity, infinity};
  const std::vector<float> before = x;
  snap(x.data(), x.size(), 0);
  CHECK(x == before);  // no grid
  for (float& v : x) v /= 2;
  snap(x.data(), x.size(), 1);
  for (float& v : x) v *= 2;
  CHECK(x == std::vector<float>{0, 0, 0, 1, 2, 2, 0, -2, 255, -255, 255});
  float fine[] = {0.1f, std::numeric_limits<float>::quiet_NaN()};
  snap(fine, 2, 5);
  CHECK(fine[0] == 0.09375f);  // 3 / 32
  CHECK(std::abs(fine[1]) <= 255.0f / 32);
}

TEST_CASE("sums are exact as long as they stay below 2^24 steps") {
  const std::vector<float> most(256, 255 * kWeightStep);  // 256 x 255 x 255 < 2^24
  CHECK(sums_are_exact(most, std::vector<float>{0}, kGrid));
  CHECK(sums_are_exact(most, std::vector<float>{130'000 * kStep * kWeightStep}, kGrid));
  CHECK_FALSE(sums_are_exact(most, std::vector<float>{131'000 * kStep * kWeightStep}, kGrid));
  CHECK_FALSE(
      sums_are_exact(std::vector<float>(259, 255 * kWeightStep), std::vector<float>{0}, kGrid));
  CHECK_FALSE(sums_are_exact(std::vector<float>{1}, std::vector<float>{0.3f}, kGrid));  // between
  CHECK_FALSE(sums_are_exact(std::vector<float>{0.3f}, std::vector<float>{0}, kGrid));  // 24 bits
  CHECK(sums_are_exact(std::vector<float>{0, 0}, std::vector<float>{0.3f}, kGrid));
  // Neither a step that processors may flush to zero nor sums that may be infinite.
  const auto alone = [](int exponent) {
    return sums_are_exact(std::vector<float>{std::ldexp(1.0f, exponent)}, std::vector<float>{0},
                          kGrid);
  };
  CHECK(alone(-121));
  CHECK_FALSE(alone(-122));
  CHECK_FALSE(alone(-149));
  CHECK(alone(108));
  CHECK_FALSE(alone(109));
  CHECK_FALSE(alone(127));
  // One of two outputs is too large.
  CHECK_FALSE(
      sums_are_exact(std::vector<float>{1.0f / 1024, 512}, std::vector<float>{0, 0}, kGrid));
}

TEST_CASE("exact sums are equal on every kernel, and to whole numbers added up") {
  for (const auto& [inputs, outputs, rows] : {std::tuple{1u, 1u, 1u},
                                              {28u, 48u, 3u},
                                              {48u, 48u, 300u},
                                              {128u, 64u, 1'000u},
                                              {256u, 16u, 257u}}) {
    ExactLayer exact(inputs, outputs, inputs + rows);
    CAPTURE(exact.layer.inputs);
    const std::vector<float> x = multiples(size_t{rows} * inputs, kStep, 255, exact.random);
    REQUIRE(sums_are_exact(exact.weights, exact.bias, kGrid));
    std::vector<float> expected(size_t{rows} * outputs);
    for (uint32_t r = 0; r < rows; ++r) {
      for (uint32_t n = 0; n < outputs; ++n) {
        double sum = exact.bias[n];
        for (uint32_t k = 0; k < inputs; ++k) {
          sum += double{x[size_t{r} * inputs + k]} * exact.weights[size_t{k} * outputs + n];
        }
        expected[size_t{r} * outputs + n] = static_cast<float>(std::max(sum, 0.0));
      }
    }
    std::vector<float> y(expected.size());
    for (const PortableDense& variant : portable_dense_variants()) {
      variant.run(exact.layer, x.data(), inputs, y.data(), outputs, rows);
      CHECK(y == expected);
    }
    for (const KernelChoice choice : {KernelChoice::kAuto, KernelChoice::kOneDnn}) {
      Kernels(choice).dense(exact.layer, x.data(), inputs, y.data(), outputs, rows);
      CHECK(y == expected);
    }
  }
}

// The tests exact_sums_* run this one with oneDNN held to other instruction sets.
TEST_CASE("an exact-sum graph network has the same bits on every kernel and processor") {
  const ExactGraphNetwork exact;
  const std::vector<float> x = exact.run(KernelChoice::kPortable);
  CHECK(exact.run(KernelChoice::kOneDnn) == x);
  CHECK(exact.run(KernelChoice::kAuto) == x);
  CHECK(*std::max_element(x.begin(), x.end()) <= 255 * kStep);
  const auto* bytes = reinterpret_cast<const uint8_t*>(x.data());
  CHECK(hexadecimal(sha256({bytes, x.size() * sizeof(float)})) ==
        "694cc805daf12573abaafd7b5757a68cc1019a701909eef5da689def7abf4ec6");
}
