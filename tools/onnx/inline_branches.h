// Branches of If nodes whose condition is known become part of the graph around them: a model that
// is exported as one If with everything inside becomes a graph of operators.
#pragma once

#include <string>
#include <unordered_map>
#include <vector>

#include "tools/onnx/model.h"

namespace placeto {

// The branch that runs, by If node.
using Decisions = std::unordered_map<const onnx::NodeProto*, bool>;

struct InlinedBranch {
  std::string node;  // the If, by the naming rule of model.h
  bool then_branch = false;
  uint64_t nodes = 0;  // that took its place
};

// Replaces the If nodes of the main graph that `decisions` has, and those in the branches that take
// their places, and names all nodes of the main graph. Tensors keep their names unless another one
// has it ("<if>/<name>" then), results that the branch does not compute itself come from an
// Identity. Bodies that stay keep no name that the main graph has. Constants and initializers move,
// they are not copied.
std::vector<InlinedBranch> inline_branches(OnnxModel& model, const Decisions& decisions);

}  // namespace placeto
