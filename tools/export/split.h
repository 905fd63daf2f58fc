// An ONNX model cut into one model per stage (stages.h).
#pragma once

#include <onnx/onnx_pb.h>

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "runtime/base/result.h"
#include "tools/export/from_caller.h"
#include "tools/export/stages.h"
#include "tools/export/value_flow.h"
#include "tools/export/value_types.h"

namespace placeto {

struct StagePlan {
  uint32_t device = 0;               // index into the caller's devices
  std::vector<int> nodes;            // positions in graph.node(), ascending, Constants included
  std::vector<int> weights;          // positions in graph.initializer(), ascending
  std::vector<int> sparse_weights;   // positions in graph.sparse_initializer(), ascending
  std::vector<std::string> inputs;   // tensors that come from the model's inputs or other stages
  std::vector<std::string> outputs;  // tensors that other stages or the caller read
  std::vector<uint32_t> after;       // stages it reads from, ascending, all below its own number
};

struct SplitPlan {
  std::vector<StagePlan> stages;                     // in an order of execution
  std::vector<uint32_t> order;                       // in which devices take them
  std::vector<uint32_t> recorded;                    // number of each in the placement, or empty
  std::map<std::string, uint32_t> made_by;           // stage of each of the stages' outputs
  std::vector<uint32_t> output_stage;                // per graph output; kFromCaller: an input
                                                     // handed through
  std::map<std::string, onnx::ValueInfoProto> info;  // of all inputs and outputs
  uint32_t unused_nodes = 0;                         // no graph output depends on them
};

// device_of_node: per node of the main graph, an index below device_count; entries of Constant
// nodes are not read. `types` fills in what the model itself does not say of tensors between
// stages. Fails with kBadInput when the model is malformed (value_flow.h), recorded
// stages do not fit it (stages.h), the type of a tensor between stages is not known (its shape
// need not be), or its name is not UTF-8.
Result<SplitPlan> plan_split(const onnx::ModelProto& model, const ValueTypes& types,
                             std::span<const uint32_t> device_of_node, uint32_t device_count,
                             const StageWish& wish);

// The model of one stage: nodes in the original's order, the weights they read, and everything the
// original says beside its graph (versions, functions, metadata, doc strings).
onnx::ModelProto stage_model(const onnx::ModelProto& model, const SplitPlan& plan, uint32_t stage);

}  // namespace placeto
