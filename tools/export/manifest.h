// manifest.json of a split model: what a host needs to run the stages.
#pragma once

#include <onnx/onnx_pb.h>

#include <string>

#include "tools/export/placed.h"
#include "tools/export/split.h"

namespace placeto {

// File of a stage: "stage_0.onnx".
std::string stage_file(uint32_t stage);

// {
//   "format_version": 1, "model": ..., "graph": ..., "topology": ..., "devices": [names],
//   "inputs":  [{"name": ..., "type": "float32", "shape": [1, "width", null]}],
//   "outputs": [{"name": ..., "type": ..., "shape": ..., "stage": 2}],
//   "stages":  [{"file": ..., "device": ..., "nodes": 12, "after": [0],
//                "inputs": [{..., "stage": 0}], "outputs": [...]}],
//   "order": [0, 1, 2], "dims": {"batch": 1}, "set": {"use_cache": "false"}
// }
// With a topology to predict from, each stage also has "predicted_start_us" and "predicted_us" (how
// long it takes, prices of cuts included), and the manifest "predicted_makespan_us" and
// "predicted_whole_us": the whole model on the first processor, beside which hosts measure it;
// absent where no device is one.
// "dims", if there are any, are the numbers that free dimensions had when the model was placed; a
// host may run the stages with others.
// "set", if there are any, are the inputs of the model that always have a value, which is "true",
// "false", a number, or numbers with commas between them. The stages do not have these inputs; a
// host that runs the whole model beside them gives it the same values.
// "order" lists the stages in the order in which devices take them.
// "stage" of an input is the stage that makes it; it is absent for inputs of the model. An output
// of the model without "stage" is one of its inputs, handed through. A shape is absent where the
// number of axes is not known; an axis is a number, a symbol, or null. "after" lists the stages
// that must have finished. Inputs that have a default are not listed.
std::string manifest_json(const std::string& model_name, const onnx::ModelProto& model,
                          const Placed& placed, const SplitPlan& plan);

}  // namespace placeto
