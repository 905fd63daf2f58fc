// Small policies for tests: networks of every kind, weights from a seeded generator.
#pragma once

#include <stdexcept>
#include <string_view>
#include <utility>
#include <vector>

#include "runtime/base/random.h"
#include "runtime/policy/file/architecture.h"
#include "runtime/policy/file/policy_file.h"
#include "runtime/policy/file/policy_spec.h"

namespace placeto::fixture {

inline constexpr std::string_view kNodeFeatures[] = {"run_time", "output_bytes", "depth"};
inline constexpr std::string_view kPairFeatures[] = {"finish", "load"};
inline constexpr KnownFeatures kKnown{kNodeFeatures, kPairFeatures, kNodeFeatures};

inline std::vector<float> weights(size_t count, Random& random) {
  std::vector<float> values(count);
  for (float& v : values) v = static_cast<float>(random.uniform() - 0.5);
  return values;
}

// Gives the spec every tensor its dimensions ask for.
inline void fill_tensors(PolicySpec& spec, uint64_t seed) {
  Random random(seed);
  spec.tensors.clear();
  const auto networks = networks_of(*find_architecture(spec.architecture), spec.dimensions,
                                    spec.node_features.size(), spec.pair_features.size());
  for (const TensorShape& tensor : tensors_of(networks)) {
    size_t count = 1;
    for (const uint32_t n : tensor.shape) count *= n;
    spec.tensors.push_back({tensor.name, tensor.shape, weights(count, random)});
  }
}

inline std::vector<uint8_t> encode(const PolicySpec& spec) {
  auto bytes = encode_policy(spec);
  if (!bytes.ok()) throw std::logic_error(bytes.status().message());
  return *std::move(bytes);
}

inline PolicyProvenance provenance() {
  return {{"layered", "branching"}, 7, 1000, "0.1.0", "rounds = 2\n", "2026-11-21"};
}

inline PolicySpec pairwise() {
  PolicySpec spec;
  spec.architecture = "pairwise";
  spec.dimensions = {.embedding = 4,
                     .rounds = 2,
                     .devices = 0,
                     .encoder_hidden = {5},
                     .message_hidden = {6},
                     .pool_hidden = {},
                     .head_hidden = {8, 3}};
  spec.node_features = {{"run_time", 0.5f, 2}, {"depth", 0, 1}};
  spec.pair_features = {{"finish", 1, 0.25f}};
  spec.provenance = provenance();
  fill_tensors(spec, 1);
  return spec;
}

inline PolicySpec placeto() {
  PolicySpec spec;
  spec.architecture = "placeto";
  spec.dimensions = {.embedding = 3,
                     .rounds = 1,
                     .devices = 2,
                     .encoder_hidden = {},
                     .message_hidden = {},
                     .pool_hidden = {4},
                     .head_hidden = {5},
                     .directions = 2};
  spec.node_features = {{"run_time", 0, 1}, {"output_bytes", 0, 1}};
  spec.provenance = provenance();
  fill_tensors(spec, 2);
  return spec;
}

// A head on pair features alone, no graph network.
inline PolicySpec head_only() {
  PolicySpec spec;
  spec.architecture = "pairwise";
  spec.pair_features = {{"load", 0, 1}, {"finish", 0, -1}};
  fill_tensors(spec, 3);
  return spec;
}

}  // namespace placeto::fixture
