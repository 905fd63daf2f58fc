#include "tools/onnx/undecided.h"

#include <algorithm>
#include <set>
#include <string_view>

#include "tools/onnx/bodies.h"
#include "tools/onnx/value.h"

namespace placeto {
namespace {

constexpr size_t kMostSources = 256;  // looked at for one condition

// A single number or boolean of a type that can be set.
bool may_be_set(const onnx::ValueInfoProto& input) {
  const auto& type = input.type().tensor_type();
  return input.type().has_tensor_type() && type.has_shape() && is_constant_type(type.elem_type()) &&
         type.elem_type() != onnx::TensorProto::FLOAT16 &&
         std::ranges::all_of(type.shape().dim(),
                             [](const auto& dim) { return dim.dim_value() == 1; });
}

// What the tensor follows from, itself included; nothing if that is too much to look at.
std::set<std::string> sources(const onnx::GraphProto& graph, const Producers& producers,
                              const std::string& tensor) {
  std::set<std::string> found{tensor};
  std::vector<std::string> open{tensor};
  while (!open.empty() && found.size() <= kMostSources) {
    const auto producer = producers.find(open.back());
    open.pop_back();
    if (producer == producers.end()) continue;
    for (std::string& name : names_read(graph.node(producer->second))) {
      if (found.insert(name).second) open.push_back(std::move(name));
    }
  }
  return found.size() > kMostSources ? std::set<std::string>() : found;
}

}  // namespace

std::vector<UndecidedIf> undecided_branches(const OnnxModel& model, const Producers& producers) {
  const onnx::GraphProto& graph = model.proto.graph();
  std::set<std::string_view> given;
  for (const auto& tensor : graph.initializer()) given.insert(tensor.name());
  std::vector<UndecidedIf> undecided;
  for (int i = 0; i < graph.node_size(); ++i) {
    const onnx::NodeProto& node = graph.node(i);
    if (!is_default_domain(node.domain()) || node.op_type() != "If" || node.input_size() == 0) {
      continue;
    }
    UndecidedIf branches{model.node_names[static_cast<size_t>(i)], {}, 0};
    const std::set<std::string> from = sources(graph, producers, node.input(0));
    bool all = true;
    for (const auto& input : graph.input()) {
      if (given.contains(input.name()) || !from.contains(input.name())) continue;
      all = all && may_be_set(input);
      branches.inputs.push_back(input.name());
    }
    for_each_body(node, [&](const onnx::GraphProto& body) {
      branches.nodes = std::max(branches.nodes, static_cast<uint64_t>(body.node_size()));
    });
    if (all && !branches.inputs.empty()) undecided.push_back(std::move(branches));
  }
  return undecided;
}

}  // namespace placeto
