// Which nodes engines make part of another one, or compute when they load the model, so that they
// cost nothing of their own. An approximation of what ONNX Runtime's graph optimizer does by
// default.
#pragma once

#include <cstdint>
#include <vector>

#include "runtime/graph/graph.h"

namespace placeto {

// True for a node that
// - vanishes;
// - is the only reader of its only input, which a product or convolution computes, perhaps through
//   nodes like it, and an activation, a batch normalization, or an addition or multiplication of
//   something that no node computes (a bias, a scale);
// - is an addition of a convolution that nothing else reads;
// - is a part of x * Sigmoid(x), of layer normalization or of GELU as exporters spell them out, but
//   the last node of it, or, of a normalization without a bias, what centers the values; or
// - converts and scales the result of a MatMulInteger.
std::vector<bool> fused_nodes(const Graph& graph);

// The node that each node is made a part of: itself, if it is fused with none; kNoIndex, if it
// vanishes, as an Identity, a Dropout, and what is computed from parameters alone.
std::vector<uint32_t> fusion_hosts(const Graph& graph);

// True for a node that is computed from parameters alone, such as a weight that is dequantized.
// Graphs do not show which nodes read inputs of the model, so only operators that take a single
// tensor can be seen to be that.
std::vector<bool> computed_from_parameters(const Graph& graph);

}  // namespace placeto
