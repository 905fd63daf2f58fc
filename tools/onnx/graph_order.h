// Which nodes of a graph of a model wait for which.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "runtime/base/result.h"
#include "tools/onnx/model.h"

namespace placeto {

// "graph.node[3] 'conv1'": for messages.
std::string onnx_node_place(const onnx::GraphProto& graph, int i);

// Names of the tensors that a node waits for: its inputs, absent ones left out, then what its
// subgraphs read from the graphs around them, each once, in the order of reading.
std::vector<std::string> names_read(const onnx::NodeProto& node);

// The node, by position, that produces each tensor of a graph. Fails with kBadInput if two do.
using Producers = std::map<std::string, int>;
Result<Producers> producers_of(const onnx::GraphProto& graph);

// All positions, each after those that it waits for; the lowest first among the ready ones, so a
// sorted graph, which is what ONNX asks for, keeps its order. Fails with kBadInput on a cycle.
Result<std::vector<int>> topological_positions(const onnx::GraphProto& graph,
                                               const Producers& producers);

// Puts the nodes of the main graph, and their names, into that order.
Status sort_nodes(OnnxModel& model);

}  // namespace placeto
