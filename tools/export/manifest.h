// manifest.json of a split model: what a host needs to run the stages.
#pragma once

#include <onnx/onnx_pb.h>

#include <string>

#include "tools/export/placed.h"
#include "tools/export/split.h"

namespace placeto {

// File of a stage: "stage_0.onnx".
std::string stage_file(uint32_t stage);

// The file's fields are in README.md.
std::string manifest_json(const std::string& model_name, const onnx::ModelProto& model,
                          const Placed& placed, const SplitPlan& plan);

}  // namespace placeto
