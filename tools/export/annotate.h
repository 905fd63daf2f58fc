// A placement as layer annotations of ONNX Runtime: each node of a copy of the model carries
// metadata_props layer_ann = "plc<device>", and a session option gives the annotations their
// devices. Unlike names, annotations also reach nodes that the engine makes by fusing annotated
// ones, and the nodes in bodies of control flow, which take their owner's.
#pragma once

#include <onnx/onnx_pb.h>

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "runtime/base/result.h"

namespace placeto {

// Marks every node of the main graph but Constants, and removes annotations that were there, in
// bodies of control flow too. device_of_node: per node of the main graph. Fails with kInternal if
// a node cannot be written.
Status annotate(onnx::ModelProto& model, std::span<const uint32_t> device_of_node);

// Value of session.layer_assignment_settings. `engine`: the engine's name of each device, "" for
// those without nodes. Rules are exact ("="): prefix rules go first, so that "plc1" as a prefix
// would also take the nodes of "plc10".
std::string annotation_rules(std::span<const std::string> engine);

// The value of layer_ann on a node; "" if it has none.
std::string annotation_of(const onnx::NodeProto& node);

}  // namespace placeto
