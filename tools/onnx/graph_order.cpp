#include "tools/onnx/graph_order.h"

#include <algorithm>
#include <functional>
#include <queue>
#include <set>

#include "runtime/graph/text.h"
#include "tools/onnx/bodies.h"

namespace placeto {
namespace {

using onnx::GraphProto;
using onnx::NodeProto;

class Captures {
 public:
  std::vector<std::string> take() { return std::move(names_); }

  void visit(const NodeProto& node) {
    for_each_body(node, [this](const GraphProto& body) { visit(body); });
  }

  void visit(const GraphProto& graph) {
    scopes_.emplace_back();
    auto& own = scopes_.back();
    for (const auto& input : graph.input()) own.insert(input.name());
    for (const auto& tensor : graph.initializer()) own.insert(tensor.name());
    for (const auto& tensor : graph.sparse_initializer()) own.insert(tensor.values().name());
    for (const NodeProto& node : graph.node()) {
      for (const std::string& output : node.output()) own.insert(output);
    }
    for (const NodeProto& node : graph.node()) {
      for (const std::string& input : node.input()) read(input);
      visit(node);
    }
    for (const auto& output : graph.output()) read(output.name());
    scopes_.pop_back();
  }

 private:
  void read(const std::string& name) {
    if (name.empty()) return;
    for (const auto& scope : scopes_) {
      if (scope.contains(name)) return;
    }
    if (seen_.insert(name).second) names_.push_back(name);
  }

  std::vector<std::set<std::string>> scopes_;  // from the outermost subgraph inwards
  std::set<std::string> seen_;
  std::vector<std::string> names_;
};

}  // namespace

std::string onnx_node_place(const GraphProto& graph, int i) {
  const NodeProto& node = graph.node(i);
  return "graph.node[" + std::to_string(i) + "] " +
         in_quotes(node.name().empty() ? node.op_type() : node.name());
}

std::vector<std::string> names_read(const NodeProto& node) {
  std::vector<std::string> names;
  for (const std::string& input : node.input()) {
    if (!input.empty()) names.push_back(input);
  }
  Captures captures;
  captures.visit(node);
  for (std::string& name : captures.take()) names.push_back(std::move(name));
  return names;
}

Result<Producers> producers_of(const GraphProto& graph) {
  Producers producers;
  for (int i = 0; i < graph.node_size(); ++i) {
    for (const std::string& output : graph.node(i).output()) {
      if (output.empty()) continue;
      const auto [it, fresh] = producers.emplace(output, i);
      if (fresh) continue;
      return Status::bad_input(onnx_node_place(graph, i) + " produces " + in_quotes(output) +
                               ", which " + onnx_node_place(graph, it->second) +
                               " produces already, expected each tensor once");
    }
  }
  return producers;
}

Result<std::vector<int>> topological_positions(const GraphProto& graph,
                                               const Producers& producers) {
  const auto n = static_cast<size_t>(graph.node_size());
  std::vector<std::vector<int>> waiting(n);
  std::vector<size_t> missing(n, 0);
  std::priority_queue<int, std::vector<int>, std::greater<>> ready;
  for (int i = 0; i < graph.node_size(); ++i) {
    const auto at = static_cast<size_t>(i);
    for (const std::string& name : names_read(graph.node(i))) {
      const auto producer = producers.find(name);
      if (producer == producers.end()) continue;
      waiting[static_cast<size_t>(producer->second)].push_back(i);
      ++missing[at];
    }
    if (missing[at] == 0) ready.push(i);
  }
  std::vector<int> order;
  while (!ready.empty()) {
    const int i = ready.top();
    ready.pop();
    order.push_back(i);
    for (int next : waiting[static_cast<size_t>(i)]) {
      if (--missing[static_cast<size_t>(next)] == 0) ready.push(next);
    }
  }
  if (order.size() == n) return order;
  for (int i = 0; i < graph.node_size(); ++i) {
    if (missing[static_cast<size_t>(i)] > 0) {
      return Status::bad_input(onnx_node_place(graph, i) +
                               " waits for its own output, expected a graph without cycles");
    }
  }
  return order;
}

Status sort_nodes(OnnxModel& model) {
  GraphProto& graph = *model.proto.mutable_graph();
  const auto producers = producers_of(graph);
  if (!producers.ok()) return producers.status();
  const auto order = topological_positions(graph, *producers);
  if (!order.ok()) return order.status();
  if (std::ranges::is_sorted(*order)) return {};
  google::protobuf::RepeatedPtrField<NodeProto> nodes;
  std::vector<std::string> names;
  for (const int i : *order) {
    *nodes.Add() = std::move(*graph.mutable_node(i));
    names.push_back(std::move(model.node_names[static_cast<size_t>(i)]));
  }
  graph.mutable_node()->Swap(&nodes);
  model.node_names = std::move(names);
  return {};
}

}  // namespace placeto
