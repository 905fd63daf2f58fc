#include "tools/onnx/undecided.h"

#include <algorithm>
#include <map>
#include <set>
#include <string_view>

#include "tools/onnx/bodies.h"
#include "tools/onnx/value.h"

namespace placeto {
namespace {

// Names looked at, for one condition and for all: in a model made to be hard each may lead to all.
constexpr size_t kMostSources = 256, kMostLooked = 1'000'000;

// A single number or boolean of a type that can be set.
bool may_be_set(const onnx::ValueInfoProto& input) {
  const auto& type = input.type().tensor_type();
  return input.type().has_tensor_type() && type.has_shape() && is_constant_type(type.elem_type()) &&
         type.elem_type() != onnx::TensorProto::FLOAT16 &&
         std::ranges::all_of(type.shape().dim(),
                             [](const auto& dim) { return dim.dim_value() == 1; });
}

// What the tensor follows from, itself included; nothing if that is too much to look at, for which
// `left` is.
std::set<std::string> sources(const onnx::GraphProto& graph, const Producers& producers,
                              const std::string& tensor, size_t& left) {
  std::set<std::string> found{tensor};
  std::vector<std::string> open{tensor};
  while (!open.empty() && found.size() <= kMostSources && left > 0) {
    const auto producer = producers.find(open.back());
    open.pop_back();
    if (producer == producers.end()) continue;
    std::vector<std::string> names = names_read(graph.node(producer->second));
    left -= std::min(left, 1 + names.size());
    for (std::string& name : names) {
      if (found.insert(name).second) open.push_back(std::move(name));
    }
  }
  return found.size() > kMostSources || left == 0 ? std::set<std::string>() : found;
}

}  // namespace

std::vector<UndecidedIf> undecided_branches(const OnnxModel& model, const Producers& producers) {
  const onnx::GraphProto& graph = model.proto.graph();
  std::map<std::string_view, const onnx::ValueInfoProto*> inputs;  // that a caller has to give
  for (const auto& input : graph.input()) inputs.emplace(input.name(), &input);
  for (const auto& tensor : graph.initializer()) inputs.erase(tensor.name());
  std::vector<UndecidedIf> undecided;
  size_t left = kMostLooked;
  for (int i = 0; i < graph.node_size(); ++i) {
    const onnx::NodeProto& node = graph.node(i);
    if (!is_default_domain(node.domain()) || node.op_type() != "If" || node.input_size() == 0) {
      continue;
    }
    UndecidedIf branches{model.node_names[static_cast<size_t>(i)], {}, 0};
    bool all = true;
    for (const std::string& source : sources(graph, producers, node.input(0), left)) {
      const auto input = inputs.find(source);
      if (input == inputs.end()) continue;
      all = all && may_be_set(*input->second);
      branches.inputs.push_back(source);
    }
    for_each_body(node, [&](const onnx::GraphProto& body) {
      branches.nodes = std::max(branches.nodes, static_cast<uint64_t>(body.node_size()));
    });
    if (all && !branches.inputs.empty()) undecided.push_back(std::move(branches));
  }
  return undecided;
}

}  // namespace placeto
