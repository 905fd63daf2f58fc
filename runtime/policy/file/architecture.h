// Which networks an architecture consists of, and so which tensors a policy file must have.
//
//   networks of        inputs -> outputs                      placeto   pairwise
//   encoder            node features -> embedding             always    unless embedding is 0
//   along.f, along.g   embedding -> embedding                 if rounds > 0
//   against.f, .g      embedding -> embedding                 if rounds > 0
//   ancestors.f, .g    2 x embedding -> 2 x embedding         always    never
//   descendants.f, .g  2 x embedding -> 2 x embedding         always    never
//   unrelated.f, .g    2 x embedding -> 2 x embedding         always    never
//   head               placeto: 8 x embedding (node, ancestors, descendants, unrelated) -> devices
//                      pairwise: embedding of the group, pair features -> 1
//
// `placeto` keeps two directions of message passing apart, so a node has two embeddings, one behind
// the other. `pairwise` mixes them in one.
//
// Node features are columns of the encoder's inputs, in the order in which the policy lists them:
// one column each, but `placed_on` of `placeto` takes one per device.
//
// Layer i of network N has the tensors "N.i.weight" [inputs, outputs] and "N.i.bias" [outputs].
// Hidden layers end in a ReLU. The last one does for f and g of `placeto`, and else in nothing.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/base/result.h"
#include "runtime/policy/file/policy_spec.h"

namespace placeto {

enum class Architecture : uint8_t { kPlaceto, kPairwise };

// Bounds that no sensible policy reaches and that keep every product below 2^32.
inline constexpr uint32_t kMaxLayerWidth = 4'096;
inline constexpr uint32_t kMaxHiddenLayers = 8;
inline constexpr uint32_t kMaxRounds = 64;
inline constexpr uint32_t kMaxFeatures = 1'024;
inline constexpr uint32_t kMaxGrid = 15;

std::optional<Architecture> find_architecture(std::string_view name);
std::string_view name_of(Architecture architecture);

// Columns that a node feature takes; node_features below counts columns.
uint32_t columns_of(Architecture architecture, const PolicyDimensions& dimensions,
                    std::string_view node_feature);

// `placeto` as published, for so many columns of node features: hidden layers as wide as what comes
// in, but for the head's.
PolicyDimensions published_dimensions(uint32_t columns, uint32_t devices, uint32_t rounds);

struct NetworkShape {
  std::string name;
  std::vector<uint32_t> widths;  // inputs, hidden layers, outputs
  bool relu_at_end = false;
};

// Fails with kBadInput, naming the dimension, when one is out of bounds or makes no sense for the
// architecture.
Status check_dimensions(Architecture architecture, const PolicyDimensions& dimensions,
                        size_t node_features, size_t pair_features);

// For dimensions that passed check_dimensions. Always in the same order.
std::vector<NetworkShape> networks_of(Architecture architecture, const PolicyDimensions& dimensions,
                                      size_t node_features, size_t pair_features);

struct TensorShape {
  std::string name;
  std::vector<uint32_t> shape;
};
std::vector<TensorShape> tensors_of(const std::vector<NetworkShape>& networks);

}  // namespace placeto
