#include "tools/onnx/analysis.h"

#include <algorithm>

#include "runtime/base/saturating.h"
#include "runtime/graph/text.h"
#include "tools/onnx/analyzer.h"
#include "tools/onnx/completeness.h"
#include "tools/onnx/element_types.h"
#include "tools/onnx/fold.h"
#include "tools/onnx/functions.h"
#include "tools/onnx/misfit.h"
#include "tools/onnx/rules.h"
#include "tools/onnx/stated_types.h"
#include "tools/onnx/visit_cost.h"
#include "tools/onnx/window_problem.h"

namespace placeto {
namespace {

using onnx::GraphProto;
using onnx::NodeProto;

constexpr int kMaxDepth = 32;  // subgraphs and calls inside each other
// Nodes of bodies, beyond those that the file has: functions may fan out.
constexpr uint64_t kMostInner = 200'000;
// Beyond that many, all but short constants are forgotten, and shapes of many axes.
constexpr uint64_t kMostKeptBytes = uint64_t{512} << 20;
constexpr size_t kFewElements = 8;
constexpr size_t kFewBytes = 640;  // of a type: a tensor's with four axes, about
// Beyond so many elements times axes, only what takes little is evaluated.
constexpr uint64_t kMostFolding = uint64_t{1} << 28;
constexpr uint64_t kLittleFolding = 4096;

void add_work(Work& total, const Work& more) {
  total.flops = saturating_add(total.flops, more.flops);
  total.bytes = saturating_add(total.bytes, more.bytes);
  total.launches = saturating_add(total.launches, std::max<uint64_t>(more.launches, 1));
}

NodeInputs inputs_of(const NodeProto& node, const Scope& scope) {
  NodeInputs inputs;
  for (const std::string& name : node.input()) {
    inputs.push_back(name.empty() ? nullptr : scope.find(name));
  }
  return inputs;
}

bool rests_on_statements(const NodeInputs& inputs) {
  return std::any_of(inputs.begin(), inputs.end(),
                     [](const Value* value) { return value != nullptr && value->stated; });
}

// Whether the shape of output k is a guess in part: what a body does depends on data, blocks of
// channels on the processor, and what attention keeps on who runs it.
bool is_uncertain(const NodeProto& node, int k) {
  return node.domain() == "com.microsoft.nchwc" || (node.domain() == "com.microsoft" && k > 0) ||
         std::any_of(node.attribute().begin(), node.attribute().end(),
                     [](const auto& attribute) { return attribute.has_g(); });
}

}  // namespace

Opsets opsets_of(const google::protobuf::RepeatedPtrField<onnx::OperatorSetIdProto>& imports) {
  constexpr int kNewest = 1'000'000;
  Opsets opsets = {{"", kNewest}};
  for (const auto& import : imports) {
    const auto version = std::clamp<int64_t>(import.version(), 1, kNewest);
    opsets[is_default_domain(import.domain()) ? "" : import.domain()] = static_cast<int>(version);
  }
  return opsets;
}

Analyzer::Analyzer(const onnx::ModelProto& model) : opsets_(opsets_of(model.opset_import())) {
  most_visits_ = kMostInner + visit_cost_of_all(model);
  for (const onnx::FunctionProto& function : model.functions()) {
    functions_[function_key(function)] = &function;
  }
}

Status Analyzer::charge(uint64_t visits) {
  visits_ += visits;
  if (visits_ <= most_visits_) return {};
  return Status::bad_input("has more than " + std::to_string(most_visits_) +
                           " nodes with the bodies of its functions and loops, where " +
                           std::to_string(kTensorsPerNode) + " tensors, and " +
                           std::to_string(kBytesPerNode) + " bytes, count as a node");
}

bool Analyzer::may_fold(const NodeInputs& inputs) {
  uint64_t work = 0;
  for (const Value* value : inputs) {
    if (value == nullptr || value->constant == nullptr) continue;
    work += value->constant->size() * (1 + value->constant->dims.size());
  }
  folding_ += work;
  return folding_ <= kMostFolding || work <= kLittleFolding;
}

Value Analyzer::bounded(Value value) {
  const size_t bytes = value.type.SpaceUsedLong();
  const size_t elements = value.constant != nullptr ? value.constant->size() : 0;
  kept_bytes_ += bytes + elements * sizeof(double);
  if (kept_bytes_ > kMostKeptBytes) {
    if (elements > kFewElements) value.constant.reset();
    if (bytes > kFewBytes) value = Value{};
  }
  return value;
}

void Analyzer::keep(const std::string& name, Value value, Scope& scope) {
  scope.set(name, bounded(std::move(value)));
}

void Analyzer::keep_initial_values(const GraphProto& graph, Scope& scope) {
  for (const auto& tensor : graph.initializer()) keep(tensor.name(), value_of(tensor), scope);
  for (const auto& tensor : graph.sparse_initializer()) {
    keep(tensor.values().name(), value_of(tensor), scope);
  }
}

Status Analyzer::visit_node(const NodeProto& node, const Scope& scope, const Frame& frame,
                            std::vector<Value>& outputs, NodeAnalysis& result) {
  const NodeInputs inputs = inputs_of(node, scope);
  for (size_t i = 0; i < inputs.size(); ++i) {
    const std::string& name = node.input(static_cast<int>(i));
    if (name.empty() || inputs[i] != nullptr) continue;
    return Status::bad_input("reads " + in_quotes(name) +
                             ", which no node, input or initializer provides");
  }
  outputs.assign(static_cast<size_t>(node.output_size()), Value{});
  return infer(node, inputs, scope, frame, outputs, result);
}

Status Analyzer::infer(const NodeProto& node, const NodeInputs& inputs, const Scope& scope,
                       const Frame& frame, std::vector<Value>& outputs, NodeAnalysis& result) {
  const bool own = is_default_domain(node.domain());
  if (is_constant_node(node)) {
    if (!outputs.empty()) outputs[0] = constant_value(node);
    return {};
  }
  if (own && node.op_type() == "If") {
    return visit_if(node, inputs, scope, frame, outputs, result);
  }
  if (own && node.op_type() == "Loop") {
    return visit_loop(node, inputs, scope, frame, outputs, result);
  }
  if (own && node.op_type() == "Scan") {
    return visit_scan(node, inputs, scope, frame, outputs, result);
  }
  if (own && node.op_type() == "SequenceMap") {
    return visit_sequence_map(node, inputs, scope, frame, outputs, result);
  }
  const auto function = functions_.find(function_key(node));
  if (function != functions_.end()) {
    return call(*function->second, node, inputs, frame, outputs, result);
  }
  if (frame.always && !rests_on_statements(inputs)) {
    const std::string problem = misfit(node, inputs, frame.opsets->at(""));
    if (!problem.empty()) return Status::bad_input(problem);
  }
  std::vector<Constant> constants;
  if (may_fold(inputs)) constants = fold(node, inputs);
  if (!constants.empty()) {
    for (size_t i = 0; i < outputs.size(); ++i) outputs[i].set_constant(std::move(constants[i]));
  } else if (!apply_shape_rule(node, inputs, outputs)) {
    library_.infer(node, inputs, *frame.opsets, outputs, result.problem);
    if (!library_.failure().ok()) return library_.failure();
    infer_element_types(node, inputs, *frame.opsets, outputs);
    if (own && !outputs.empty()) give_rank(node, inputs, outputs[0]);
    if (own && !outputs.empty()) count_entries(node, inputs, outputs[0]);
  } else {
    result.problem = window_problem(node, inputs);
  }
  result.work = count_work(node, inputs, outputs);
  return {};
}

Status Analyzer::visit_nodes(const GraphProto& graph, const std::vector<int>& order, Scope& scope,
                             const Frame& frame, const Take& take) {
  const StatedTypes stated = stated_types(graph);
  for (int i : order) {
    const NodeProto& node = graph.node(i);
    std::vector<Value> outputs;
    NodeAnalysis result;
    const Status status = visit_node(node, scope, frame, outputs, result);
    if (!status.ok()) return status.at(onnx_node_place(graph, i));
    const bool rests = rests_on_statements(inputs_of(node, scope));
    bool completed = false;  // by what the model says of an output
    for (int k = 0; k < node.output_size(); ++k) {
      if (node.output(k).empty()) continue;
      const auto said = stated.find(node.output(k));
      Value& value = outputs[static_cast<size_t>(k)];
      const bool was_known = has_size(value);
      const auto inferred = value.dims();
      if (said != stated.end() && is_sensible(*said->second)) complete_from(*said->second, value);
      if (!is_sensible(value.type)) value = Value{};
      completed |= !was_known && has_size(value);
      if (frame.always && !value.stated && !rests && overflows(value)) {
        const Status large = Status::bad_input(
            "makes " + in_quotes(node.output(k)) + " (" + lengths_text(*value.dims()) +
            "), which is more than 2^62 bytes, expected what fits in a memory");
        return large.at(onnx_node_place(graph, i));
      }
      value.stated |= rests || is_uncertain(node, k) || value.dims() != inferred;
    }
    const bool counts =
        result.work.operator_class != OperatorClass::kControl && !is_constant_node(node);
    if (completed && counts) {
      result.work = count_work(node, inputs_of(node, scope), outputs);
    }
    check_complete(node, outputs, result);
    for (int k = 0; k < node.output_size(); ++k) {
      if (node.output(k).empty()) continue;
      keep(node.output(k), std::move(outputs[static_cast<size_t>(k)]), scope);
    }
    take(i, std::move(result));
  }
  return {};
}

Status Analyzer::visit_body(const GraphProto& graph, Scope& scope, const Frame& frame, Body& body) {
  if (frame.depth > kMaxDepth) {
    return Status::bad_input("has graphs or functions inside each other more than " +
                             std::to_string(kMaxDepth) + " deep");
  }
  if (Status s = charge(visit_cost(graph)); !s.ok()) return s;
  keep_initial_values(graph, scope);
  const auto producers = producers_of(graph);
  if (!producers.ok()) return producers.status();
  const auto order = topological_positions(graph, *producers);
  if (!order.ok()) return order.status();
  const auto take = [&](int i, NodeAnalysis&& result) {
    if (!is_constant_node(graph.node(i))) add_work(body.work, result.work);
    if (!result.complete && body.problem.empty()) {
      body.problem = onnx_node_place(graph, i) + " of its body: " + result.problem;
    }
  };
  if (Status s = visit_nodes(graph, *order, scope, frame, take); !s.ok()) return s;
  for (const auto& output : graph.output()) {
    const Value* found = scope.find(output.name());
    Value value = found != nullptr ? *found : Value{};
    if (found == nullptr && is_sensible(output.type())) value.type = output.type();
    body.outputs.push_back(bounded(std::move(value)));
  }
  return {};
}

Status Analyzer::run(const onnx::ModelProto& model, Defaults defaults, Analysis& analysis) {
  constexpr int64_t kFirstReplaceable = 4;  // IR version
  const bool replaceable =
      defaults == Defaults::kReplaceable && model.ir_version() >= kFirstReplaceable;
  // What no engine runs at the sizes that inputs have; sizes that are only tried refuse nothing.
  const bool refuses = defaults == Defaults::kTaken;
  const GraphProto& graph = model.graph();
  if (Status s = charge(visit_cost(graph)); !s.ok()) return s;
  keep_initial_values(graph, analysis.scope);
  for (const auto& input : graph.input()) {
    const bool is_weight = analysis.scope.find(input.name()) != nullptr;
    if (is_weight && !replaceable) continue;
    Value value;
    if (is_sensible(input.type())) value.type = input.type();
    keep(input.name(), std::move(value), analysis.scope);
  }
  auto producers = producers_of(graph);
  if (!producers.ok()) return producers.status();
  analysis.producers = *std::move(producers);
  auto order = topological_positions(graph, analysis.producers);
  if (!order.ok()) return order.status();
  analysis.order = *std::move(order);
  analysis.nodes.resize(static_cast<size_t>(graph.node_size()));
  return visit_nodes(graph, analysis.order, analysis.scope, {&opsets_, 0, refuses},
                     [&](int i, NodeAnalysis&& result) {
                       analysis.nodes[static_cast<size_t>(i)] = std::move(result);
                     });
}

Result<Analysis> analyze(const onnx::ModelProto& model, Defaults defaults) {
  Analysis analysis;
  Analyzer analyzer(model);
  if (Status s = analyzer.run(model, defaults, analysis); !s.ok()) return s;
  analysis.decided = analyzer.take_decisions();
  return analysis;
}

}  // namespace placeto
