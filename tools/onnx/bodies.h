// The graphs inside a node: bodies of control flow.
#pragma once

#include <onnx/onnx_pb.h>

namespace placeto {

// Calls visit(graph) for each of them, not for those inside them.
template <class Visit>
void for_each_body(const onnx::NodeProto& node, Visit&& visit) {
  for (const auto& attribute : node.attribute()) {
    if (attribute.has_g()) visit(attribute.g());
    for (const onnx::GraphProto& graph : attribute.graphs()) visit(graph);
  }
}
template <class Visit>
void for_each_body(onnx::NodeProto& node, Visit&& visit) {
  for (auto& attribute : *node.mutable_attribute()) {
    if (attribute.has_g()) visit(*attribute.mutable_g());
    for (onnx::GraphProto& graph : *attribute.mutable_graphs()) visit(graph);
  }
}

}  // namespace placeto
