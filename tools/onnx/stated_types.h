// What a model says itself of the types of its tensors. Private to analysis.cpp and
// control_flow.cpp.
#pragma once

#include <map>
#include <string>

#include "tools/onnx/value.h"

namespace placeto {

// Of a graph's outputs and the tensors inside it, by name.
using StatedTypes = std::map<std::string, const onnx::TypeProto*>;
StatedTypes stated_types(const onnx::GraphProto& graph);

// Types grow from node to node (Gather adds ranks, SequenceConstruct nests) without end in a
// malicious model; no engine runs such tensors.
bool is_sensible(const onnx::TypeProto& type);

// Fills what is not known of a value from a type that the model states.
void complete_from(const onnx::TypeProto& said, Value& value);

}  // namespace placeto
