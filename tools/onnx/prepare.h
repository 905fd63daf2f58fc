// A model with everything that is known put into it, before it is analyzed, placed or exported:
// both ends have to see the same nodes.
#pragma once

#include <span>

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
// inner tensors are declared, whatever the model says of them. Fails as set_dimensions does, too.
Result<std::vector<InlinedBranch>> prepare_model(OnnxModel& model, const ModelSettings& settings);

// The shapes with free lengths: for what has to be right for others, too. kInvalidArgument if
// nothing produces such a tensor, or it is none.
Status declare_axes(onnx::GraphProto& graph, std::span<const ShapeSetting> settings);

// A sentence for each of the shapes that are set where the model, as it was read, says otherwise:
// no operator reads what is written down there, and engines pass over it, so it may be out of date.
std::vector<std::string> corrected_shapes(const onnx::ModelProto& model,
                                          const std::vector<ShapeSetting>& settings);

// That what follows from the operators of such a model agrees with the shapes that were declared.
// kInvalidArgument, with both shapes, where it does not.
Status check_shapes(const Analysis& analysis, const std::vector<ShapeSetting>& settings);

}  // namespace placeto
