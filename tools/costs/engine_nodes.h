// Which node of a graph each node of an engine's profile stands for.
//
// ONNX Runtime drops Constant nodes and numbers the others in the order of the model; a node
// without a name is called "<op>_<number>" in profiles. Its optimizer gives new numbers, from the
// number of nodes on, and new names: those of what it replaces with something before or behind,
// those of tensors, or, where nothing has a name, words of its own ("/QuickGeluFusion/_token_3").
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "runtime/base/no_index.h"
#include "runtime/graph/graph.h"
#include "tools/costs/node_outputs.h"
#include "tools/costs/profile.h"

namespace placeto {

// A node of the graph for each node of the profile, kNoIndex where nothing leads to one.
struct EngineNodes {
  std::vector<uint32_t> by_name;  // by numbers and names
  std::vector<uint32_t> node_of;  // those, and more by position and size
  // All that a joined name names, `by_name` first; empty for other names.
  std::vector<std::vector<uint32_t>> joined;
};

// In this order: the index, for nodes to which the model gives no name of their own; the name as it
// is, of a node or of an output; the number in it; the name without what optimizers add; the
// longest name that it contains. Then a node that is still without a place takes that of the
// nearest reader of what ran just before whose outputs have as many bytes and that no other node of
// the profile stands for; a changed layout (ReorderInput, ...) is none of the model's nodes.
// A joined name stands for all nodes that it names; one that names none is looked for as others.
// `outputs` by node may be empty. Linear in nodes of graph and profile.
EngineNodes match_engine_nodes(const Graph& graph, std::span<const NodeOutputs> outputs,
                               const Profile& profile);

}  // namespace placeto
