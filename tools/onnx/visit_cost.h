// What it takes to go through the nodes of a graph once. Bodies of loops and functions are visited
// many times over, so a small file could cost hours if only their nodes counted.
#pragma once

#include <onnx/onnx_pb.h>

#include <cstdint>

namespace placeto {

// In nodes: as many as it has; or one for kTensorsPerNode initializers, inputs, outputs and names
// that its nodes read and write, for kBytesPerNode of those, or for what a search for the captures
// of its subgraphs walks, whichever is the most. What subgraphs cost once they are visited is not
// in it.
uint64_t visit_cost(const onnx::GraphProto& graph);

// That of each graph of the model, and of each function that it defines, once.
uint64_t visit_cost_of_all(const onnx::ModelProto& model);

inline constexpr uint64_t kTensorsPerNode = 8;
inline constexpr uint64_t kBytesPerNode = 256;

}  // namespace placeto
