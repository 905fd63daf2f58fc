// Who makes and who reads the tensors of an ONNX model's main graph.
#pragma once

#include <onnx/onnx_pb.h>

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "runtime/base/result.h"

namespace placeto {

// Where a tensor of the main graph comes from. Weights are initializers and Constant nodes: every
// stage that reads one has a copy. A graph input with an initializer is a weight: the initializer
// is its default.
struct Origin {
  enum class From : uint8_t { kInput, kNode, kInitializer, kSparseInitializer, kConstantNode };
  From from = From::kInput;
  int index = 0;  // position in the list of inputs, nodes or initializers
  bool is_weight() const { return from != From::kInput && from != From::kNode; }
};

struct ValueFlow {
  std::map<std::string, Origin> origin;             // every tensor
  std::vector<std::vector<std::string>> reads;      // per node, distinct, in order; bodies of
                                                    // control flow included
  std::vector<std::vector<uint32_t>> predecessors;  // per node, ascending: nodes it reads from
  std::vector<bool> live;                           // per node: a graph output depends on it;
                                                    // never for Constant nodes
};

// Fails with kBadInput when a tensor has two makers or none, or a node reads what a later one
// makes.
Result<ValueFlow> find_value_flow(const onnx::GraphProto& graph);

}  // namespace placeto
