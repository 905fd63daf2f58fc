// A policy as plain data: what the trainer writes, the file holds and tools show.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace placeto {

// Widths of the networks; which of them an architecture has: architecture.h.
struct PolicyDimensions {
  uint32_t embedding = 0;  // floats per node after the graph network; 0: no graph network
  uint32_t rounds = 0;     // of message passing, with shared weights
  uint32_t devices = 0;    // outputs of the head of `placeto`; 0 for `pairwise`
  std::vector<uint32_t> encoder_hidden;  // hidden layers: node features -> embedding
  std::vector<uint32_t> message_hidden;  // hidden layers of each f and g of message passing
  std::vector<uint32_t> pool_hidden;     // hidden layers of each f and g of pooling (`placeto`)
  std::vector<uint32_t> head_hidden;     // hidden layers of the head
  uint32_t directions = 0;               // of message passing that are kept apart; `placeto`: 2
  uint32_t grid = 0;  // > 0: an exact-sum network (net/grid.h), activations in steps of 2^-grid
  // Hidden layers of the network of leaps (`pairwise`, policy/pairwise/pass.h); empty: none.
  std::vector<uint32_t> leap_hidden = {};
  friend bool operator==(const PolicyDimensions&, const PolicyDimensions&) = default;
};

// An input column. The network sees (value - shift) * scale.
struct PolicyFeature {
  std::string name;
  float shift = 0;  // finite
  float scale = 1;  // finite, not 0
  friend bool operator==(const PolicyFeature&, const PolicyFeature&) = default;
};

struct PolicyTensor {
  std::string name;
  std::vector<uint32_t> shape;
  std::vector<float> data;  // row-major
  friend bool operator==(const PolicyTensor&, const PolicyTensor&) = default;
};

// Where a policy came from. Nothing here affects what it computes.
struct PolicyProvenance {
  std::vector<std::string> workloads;
  uint64_t seed = 0;
  uint64_t steps = 0;
  std::string trainer_version;
  std::string config;  // text of the training configuration
  std::string date;    // free text
  friend bool operator==(const PolicyProvenance&, const PolicyProvenance&) = default;
};

struct PolicySpec {
  std::string architecture;  // "placeto" or "pairwise"
  PolicyDimensions dimensions;
  std::vector<PolicyFeature> node_features;  // one row per node: inputs of the encoder
  std::vector<PolicyFeature> pair_features;  // one row per (group, device): inputs of the head
  std::vector<PolicyTensor> tensors;
  PolicyProvenance provenance;
  friend bool operator==(const PolicySpec&, const PolicySpec&) = default;
};

// Names of the features that the runtime can compute. A policy that asks for another is refused.
struct KnownFeatures {
  std::span<const std::string_view> node;       // node_features of `pairwise`
  std::span<const std::string_view> pair;       // pair_features of `pairwise`
  std::span<const std::string_view> step = {};  // node_features of `placeto`
};

}  // namespace placeto
