// Operators that engines run as one: tearing them apart costs the fusion and a copy. On import they
// become colocation groups, which nothing splits.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "runtime/graph/graph.h"

namespace placeto {

// A chain of nodes, each of which the next alone reads, and some of what they read.
struct WholePattern {
  std::string name;
  // Operators with '|' between them, "*" for all but quantization. With '?' behind a step may be
  // missing; with '+' its node has to read no other node than the one before it (a bias, a scale).
  std::vector<std::string> chain;
  // Operators of producers that only the pattern's nodes read, which then belong to it; and theirs.
  std::string with;
  bool needs_with = false;  // no match without one of them
};

// What ONNX Runtime's optimizers make one node, and the units of quantized operators:
// DequantizeLinear before and QuantizeLinear behind the operator, so that what passes between units
// is quantized. Sources: onnxruntime/core/optimizer (conv_bn_fusion, conv_activation_fusion,
// matmul_add_fusion, layer_norm_fusion, gelu_fusion, quick_gelu_fusion, attention_fusion,
// qdq_transformer) of 1.30.
std::span<const WholePattern> default_whole_patterns();

// Pairs of nodes that have to share a device: those of every match, and nodes computed from
// parameters alone with the one that reads them. Linear in nodes, edges and patterns.
std::vector<std::pair<uint32_t, uint32_t>> pairs_kept_whole(const Graph& graph,
                                                            std::span<const WholePattern> patterns);

}  // namespace placeto
