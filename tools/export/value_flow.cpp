#include "tools/export/value_flow.h"

#include <algorithm>
#include <set>

#include "runtime/graph/text.h"
#include "tools/onnx/graph_order.h"
#include "tools/onnx/model.h"

namespace placeto {
namespace {

using From = Origin::From;

// Names in the order of their first appearance.
std::vector<std::string> distinct(std::vector<std::string> names) {
  std::set<std::string> seen;
  std::erase_if(names, [&](const std::string& name) { return !seen.insert(name).second; });
  return names;
}

// Every maker of a tensor, nodes last: a weight replaces the input whose default it is.
Status add_origins(const onnx::GraphProto& graph, ValueFlow& flow) {
  for (int i = 0; i < graph.input_size(); ++i) {
    flow.origin[graph.input(i).name()] = {From::kInput, i};
  }
  for (int i = 0; i < graph.initializer_size(); ++i) {
    flow.origin[graph.initializer(i).name()] = {From::kInitializer, i};
  }
  for (int i = 0; i < graph.sparse_initializer_size(); ++i) {
    flow.origin[graph.sparse_initializer(i).values().name()] = {From::kSparseInitializer, i};
  }
  for (int i = 0; i < graph.node_size(); ++i) {
    const From from = is_constant_node(graph.node(i)) ? From::kConstantNode : From::kNode;
    for (const std::string& name : graph.node(i).output()) {
      if (name.empty() || flow.origin.emplace(name, Origin{from, i}).second) continue;
      return Status::bad_input(onnx_node_place(graph, i) + " makes " + in_quotes(name) +
                               ", which something else makes too");
    }
  }
  return {};
}

Status add_predecessors(const onnx::GraphProto& graph, ValueFlow& flow) {
  const auto count = static_cast<size_t>(graph.node_size());
  flow.reads.resize(count);
  flow.predecessors.resize(count);
  for (int i = 0; i < graph.node_size(); ++i) {
    const auto v = static_cast<size_t>(i);
    flow.reads[v] = distinct(names_read(graph.node(i)));
    for (const std::string& name : flow.reads[v]) {
      const auto found = flow.origin.find(name);
      if (found == flow.origin.end()) {
        return Status::bad_input(onnx_node_place(graph, i) + " reads " + in_quotes(name) +
                                 ", which nothing makes");
      }
      const Origin& origin = found->second;
      if (origin.from == From::kInput || origin.is_weight()) continue;
      if (origin.index >= i) {
        return Status::bad_input(onnx_node_place(graph, i) + " reads " + in_quotes(name) +
                                 ", which a later node makes; expected nodes in topological order");
      }
      flow.predecessors[v].push_back(static_cast<uint32_t>(origin.index));
    }
    std::vector<uint32_t>& list = flow.predecessors[v];
    std::sort(list.begin(), list.end());
    list.erase(std::unique(list.begin(), list.end()), list.end());
  }
  return {};
}

Status find_live(const onnx::GraphProto& graph, ValueFlow& flow) {
  flow.live.assign(flow.reads.size(), false);
  for (const auto& output : graph.output()) {
    const auto found = flow.origin.find(output.name());
    if (found == flow.origin.end()) {
      return Status::bad_input("graph.output " + in_quotes(output.name()) + ": nothing makes it");
    }
    if (found->second.from == From::kNode)
      flow.live[static_cast<size_t>(found->second.index)] = true;
  }
  for (size_t v = flow.live.size(); v-- > 0;) {
    if (!flow.live[v]) continue;
    for (const uint32_t u : flow.predecessors[v]) flow.live[u] = true;
  }
  return {};
}

}  // namespace

Result<ValueFlow> find_value_flow(const onnx::GraphProto& graph) {
  ValueFlow flow;
  if (Status s = add_origins(graph, flow); !s.ok()) return s;
  if (Status s = add_predecessors(graph, flow); !s.ok()) return s;
  if (Status s = find_live(graph, flow); !s.ok()) return s;
  return flow;
}

}  // namespace placeto
