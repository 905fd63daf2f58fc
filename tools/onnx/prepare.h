// A model with everything that is known put into it, before it is analyzed, placed or exported:
// both ends have to see the same nodes.
#pragma once

#include "tools/onnx/analysis.h"
#include "tools/onnx/inline_branches.h"
#include "tools/onnx/model.h"
#include "tools/onnx/settings.h"

namespace placeto {

// Inputs that are set become parameters, then branches that are decided become part of the graph.
// Numbers for free dimensions decide none: what is exported has to be right for others, too. A
// model without If nodes is not analyzed here, others once. Fails with kInvalidArgument if a
// setting names no input or does not fit it, with kBadInput as analyze does. This is what export
// needs.
Result<std::vector<InlinedBranch>> prepare_nodes(OnnxModel& model, const ModelSettings& settings);

// The same; then free dimensions of inputs that something reads get their numbers, and shapes of
// inner tensors are declared. Fails as set_dimensions does, too, and for a shape that contradicts
// what the model says of the tensor.
Result<std::vector<InlinedBranch>> prepare_model(OnnxModel& model, const ModelSettings& settings);

// That what follows in such a model agrees with the shapes that were declared: a declaration fills
// in what is open and changes nothing. kInvalidArgument, with both shapes, where it does not.
Status check_shapes(const Analysis& analysis, const std::vector<ShapeSetting>& settings);

}  // namespace placeto
