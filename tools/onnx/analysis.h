// Shapes of all tensors of a model, and the work of its nodes.
//
// Nodes are visited in topological order. A node's outputs follow, in this order, from: evaluation
// if its inputs are small constants (fold.h); the rules of rules.h; the shape inference of libonnx;
// the body, for If, Loop, Scan and functions that the model defines; what the model says about the
// tensor (value_info). libonnx's whole-model inference is not used: it stops at the first operator
// it does not know, does not evaluate the shape arithmetic of exporters, and trusts its input.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "runtime/base/result.h"
#include "tools/onnx/graph_order.h"
#include "tools/onnx/inline_branches.h"
#include "tools/onnx/model.h"
#include "tools/onnx/value.h"
#include "tools/onnx/work.h"

namespace placeto {

struct NodeAnalysis {
  Work work;
  bool complete = true;  // types and shapes of all outputs are known
  std::string problem;   // why not, as far as it is known
};

struct Analysis {
  Scope scope;                      // every tensor of the main graph
  Producers producers;              // of the main graph
  std::vector<NodeAnalysis> nodes;  // by position in proto.graph().node()
  std::vector<int> order;           // the same positions in a topological order
  Decisions decided;                // If nodes that always take the same branch, by what they take
};

// Inputs that have an initializer have a value unless the caller gives another, which IR version 4
// and later allow.
enum class Defaults : uint8_t {
  kTaken,  // as if no caller gave another: for sizes
  // Only their types are known: for what has to be right whatever callers give. Sizes are tried
  // ones then, and inputs that do not fit each other no error.
  kReplaceable
};

// The work of a node with subgraphs is that of its bodies: the larger branch of an If (the one
// taken if its condition is known), a Loop's or Scan's body times the number of iterations (once if
// that is not known), a function's body.
//
// Set the dimensions of inputs first (dimensions.h). Fails with kBadInput, naming the node, when a
// node reads a tensor that nothing provides, or tensors that do not fit each other (misfit.h), or
// makes one that no memory holds, two nodes produce the same tensor, nodes form a cycle, or
// subgraphs and functions are nested without end.
Result<Analysis> analyze(const onnx::ModelProto& model, Defaults defaults = Defaults::kTaken);

}  // namespace placeto
