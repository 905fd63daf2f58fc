// Nodes with graphs inside: If, Loop, Scan, and calls of functions that the model defines.
#include <algorithm>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "runtime/base/saturating.h"
#include "runtime/graph/text.h"
#include "tools/onnx/analyzer.h"

namespace placeto {
namespace {

using onnx::FunctionProto;
using onnx::GraphProto;
using onnx::NodeProto;

void repeat_work(Work& work, uint64_t times) {
  work.flops = saturating_product(work.flops, times);
  work.bytes = saturating_product(work.bytes, times);
  work.launches = saturating_product(work.launches, times);
}

const GraphProto* body_of(const NodeProto& node, const char* name) {
  const auto* attribute = find_attribute(node, name);
  return attribute != nullptr && attribute->has_g() ? &attribute->g() : nullptr;
}

Status no_body(const char* name) {
  return Status::bad_input(std::string("has no attribute ") + name + ", expected a graph there");
}

// What is known of a value that is one or the other. Both have one type of elements, so where only
// one of them is known it is the other's, too.
Value either(const Value& a, const Value& b) {
  Value out;
  const auto other = [](const Value& v) {
    return v.type.value_case() != onnx::TypeProto::VALUE_NOT_SET && !v.is_tensor();
  };
  if (other(a) || other(b)) return out;
  const auto x = a.dims(), y = b.dims();
  const int32_t type = a.element_type() != 0 ? a.element_type() : b.element_type();
  if (type == 0 || (b.element_type() != 0 && b.element_type() != type)) return out;
  if (!x || !y || x->size() != y->size()) {
    out.type.mutable_tensor_type()->set_elem_type(type);
    return out;
  }
  Dims dims = *x;
  for (size_t i = 0; i < dims.size(); ++i) {
    if (dims[i] != (*y)[i]) dims[i] = kUnknownDim;
  }
  out.set_tensor(type, dims);
  return out;
}

// `own`: whether the node is run itself, or stands for its body alone.
void finish_control(Body&& body, bool own, NodeAnalysis& result) {
  result.work = body.work;
  result.work.bytes = std::max<uint64_t>(result.work.bytes, 1);
  if (own) ++result.work.launches;
  result.work.operator_class = OperatorClass::kControl;
  result.problem = std::move(body.problem);
}

// A body input: the value that goes in, or what the body says of it.
Value bind(const Value* actual, const onnx::ValueInfoProto& formal) {
  Value value;
  if (actual != nullptr) value.type = actual->type;
  complete_from(formal.type(), value);
  return value;
}

Value with_axis(const Value& element, size_t axis, int64_t length) {
  Value out;
  auto dims = element.dims();
  if (!dims) return out;
  dims->insert(dims->begin() + static_cast<std::ptrdiff_t>(std::min(axis, dims->size())), length);
  out.set_tensor(element.element_type(), *dims);
  return out;
}

// Attributes of a function that have a value where a call gives none, since IR version 9: field
// `attribute_proto`, which libonnx before 1.13 keeps as bytes that it does not know.
template <class Function>
std::vector<onnx::AttributeProto> default_attributes(const Function& function) {
  if constexpr (requires { function.attribute_proto(); }) {
    return {function.attribute_proto().begin(), function.attribute_proto().end()};
  } else {
    std::vector<onnx::AttributeProto> attributes;
    for (int i = 0; i < function.unknown_fields().field_count(); ++i) {
      const auto& field = function.unknown_fields().field(i);
      if (field.number() != 11 || field.type() != field.TYPE_LENGTH_DELIMITED) continue;
      onnx::AttributeProto attribute;
      if (attribute.ParseFromString(field.length_delimited())) {
        attributes.push_back(std::move(attribute));
      }
    }
    return attributes;
  }
}

// The nodes of a function as a graph, with the attributes of the call, else the function's own, in
// place of references.
GraphProto instantiate(const FunctionProto& function, const NodeProto& call,
                       const std::vector<onnx::AttributeProto>& defaults) {
  std::unordered_map<std::string_view, const onnx::AttributeProto*> given;
  for (const auto& attribute : call.attribute()) given.emplace(attribute.name(), &attribute);
  for (const auto& attribute : defaults) given.emplace(attribute.name(), &attribute);
  GraphProto graph;
  graph.set_name(function.name());
  for (const NodeProto& node : function.node()) {
    NodeProto* copy = graph.add_node();
    *copy = node;
    copy->clear_attribute();
    for (const auto& attribute : node.attribute()) {
      if (attribute.ref_attr_name().empty()) {
        *copy->add_attribute() = attribute;
      } else if (const auto at = given.find(attribute.ref_attr_name()); at != given.end()) {
        auto* added = copy->add_attribute();
        *added = *at->second;
        added->set_name(attribute.name());
      }
    }
  }
  for (const std::string& output : function.output()) graph.add_output()->set_name(output);
  return graph;
}

}  // namespace

Status Analyzer::visit_if(const NodeProto& node, const NodeInputs& inputs, const Scope& scope,
                          const Frame& frame, std::vector<Value>& outputs, NodeAnalysis& result) {
  const Constant* condition =
      !inputs.empty() && inputs[0] != nullptr ? inputs[0]->constant.get() : nullptr;
  const bool decided = condition != nullptr && condition->size() == 1;
  if (decided) decided_[&node] = condition->number(0) != 0;
  Body chosen;
  bool first = true;
  for (const char* name : {"then_branch", "else_branch"}) {
    const GraphProto* graph = body_of(node, name);
    if (graph == nullptr) return no_body(name);
    if (decided && (condition->number(0) != 0) != (name[0] == 't')) continue;
    Scope inner(&scope);
    Body body;
    const Status status = visit_body(*graph, inner, {frame.opsets, frame.depth + 1}, body);
    if (!status.ok()) return status.at(name);
    for (size_t i = 0; i < outputs.size() && i < body.outputs.size(); ++i) {
      outputs[i] = first ? body.outputs[i] : either(outputs[i], body.outputs[i]);
    }
    if (first || body.work.flops > chosen.work.flops) chosen = std::move(body);
    first = false;
  }
  finish_control(std::move(chosen), true, result);
  return {};
}

namespace {

bool is_true(const Value* value) {
  const Constant* constant = value != nullptr ? value->constant.get() : nullptr;
  return constant != nullptr && constant->size() == 1 && constant->number(0) != 0;
}

Value boolean(bool content) {
  Value value;
  value.set_constant({onnx::TensorProto::BOOL, {}, {content ? 1 : 0}, {}});
  return value;
}

// How often the body of a Loop runs; nullopt where values decide while it does. `forever`: whether
// a condition that is true before an iteration is true after it, too.
std::optional<uint64_t> trips_of(const NodeInputs& inputs, bool forever) {
  const Constant* trips = !inputs.empty() && inputs[0] ? inputs[0]->constant.get() : nullptr;
  if (trips == nullptr || !trips->whole() || trips->size() != 1 || trips->ints[0] < 0) {
    return std::nullopt;
  }
  const bool conditional = inputs.size() > 1 && inputs[1] != nullptr;
  if (conditional && !(is_true(inputs[1]) && forever)) return std::nullopt;
  return static_cast<uint64_t>(trips->ints[0]);
}

}  // namespace

// Loop(max trips, condition, state...) -> state..., one entry per iteration...
Status Analyzer::visit_loop(const NodeProto& node, const NodeInputs& inputs, const Scope& scope,
                            const Frame& frame, std::vector<Value>& outputs, NodeAnalysis& result) {
  const GraphProto* graph = body_of(node, "body");
  if (graph == nullptr) return no_body("body");
  const auto states = inputs.size() < 2 ? size_t{0} : inputs.size() - 2;
  Scope inner(&scope);
  for (int i = 0; i < graph->input_size(); ++i) {
    const auto at = static_cast<size_t>(i);
    Value value = bind(at >= 2 && at < inputs.size() ? inputs[at] : nullptr, graph->input(i));
    if (i < 2) value.set_tensor(i == 0 ? onnx::TensorProto::INT64 : onnx::TensorProto::BOOL, {});
    if (i == 1 && at < inputs.size() && is_true(inputs[at])) value = boolean(true);
    keep(graph->input(i).name(), std::move(value), inner);
  }
  Body body;
  const Status status = visit_body(*graph, inner, {frame.opsets, frame.depth + 1}, body);
  if (!status.ok()) return status.at("body");
  const auto trips = trips_of(inputs, !body.outputs.empty() && is_true(&body.outputs[0]));
  for (size_t i = 0; i < outputs.size() && i + 1 < body.outputs.size(); ++i) {
    const Value& last = body.outputs[i + 1];  // after the condition
    if (i < states) {
      outputs[i] = inputs[i + 2] != nullptr ? either(*inputs[i + 2], last) : last;
    } else {
      outputs[i] = with_axis(last, 0, trips ? static_cast<int64_t>(*trips) : kUnknownDim);
    }
  }
  if (trips) repeat_work(body.work, *trips);
  finish_control(std::move(body), true, result);
  return {};
}

// Scan(state..., sequence...) -> state..., sequence...; of opset 9 and later.
Status Analyzer::visit_scan(const NodeProto& node, const NodeInputs& inputs, const Scope& scope,
                            const Frame& frame, std::vector<Value>& outputs, NodeAnalysis& result) {
  const GraphProto* graph = body_of(node, "body");
  if (graph == nullptr) return no_body("body");
  const int64_t sequences = int_attribute(node, "num_scan_inputs", 0);
  const auto given = static_cast<int64_t>(inputs.size());
  if (sequences < 1 || sequences > given) {
    return Status::bad_input("has num_scan_inputs " + std::to_string(sequences) + " with " +
                             std::to_string(given) + " inputs, expected 1 to that many");
  }
  const auto states = static_cast<size_t>(given - sequences);
  const auto axes = ints_attribute(node, "scan_input_axes");
  const auto out_axes = ints_attribute(node, "scan_output_axes");
  int64_t length = kUnknownDim;
  Scope inner(&scope);
  for (int i = 0; i < graph->input_size(); ++i) {
    const auto at = static_cast<size_t>(i);
    Value value = bind(at < inputs.size() ? inputs[at] : nullptr, graph->input(i));
    auto dims = at < inputs.size() && inputs[at] ? inputs[at]->dims() : std::nullopt;
    if (at >= states && dims) {
      const size_t k = at - states;
      const auto axis = resolve_axis(k < axes.size() ? axes[k] : 0, dims->size());
      if (!axis) return Status::bad_input("has scan_input_axes that its inputs do not have");
      if ((*dims)[*axis] >= 0) length = (*dims)[*axis];
      dims->erase(dims->begin() + static_cast<std::ptrdiff_t>(*axis));
      value.set_tensor(inputs[at]->element_type(), *dims);
    }
    keep(graph->input(i).name(), std::move(value), inner);
  }
  Body body;
  const Status status = visit_body(*graph, inner, {frame.opsets, frame.depth + 1}, body);
  if (!status.ok()) return status.at("body");
  for (size_t i = 0; i < outputs.size() && i < body.outputs.size(); ++i) {
    outputs[i] = body.outputs[i];
    outputs[i].constant = nullptr;
    if (i < states) continue;
    const auto rank = body.outputs[i].dims() ? body.outputs[i].dims()->size() + 1 : size_t{1};
    const int64_t wanted = i - states < out_axes.size() ? out_axes[i - states] : 0;
    outputs[i] = with_axis(body.outputs[i], resolve_axis(wanted, rank).value_or(0), length);
  }
  if (length >= 0) repeat_work(body.work, static_cast<uint64_t>(length));
  finish_control(std::move(body), true, result);
  return {};
}

Status Analyzer::call(const FunctionProto& function, const NodeProto& node,
                      const NodeInputs& inputs, const Frame& frame, std::vector<Value>& outputs,
                      NodeAnalysis& result) {
  // A copy of its nodes, with the attributes of the call wherever they are referred to.
  uint64_t references = 0;
  for (const NodeProto& inner : function.node()) {
    for (const auto& attribute : inner.attribute()) references += attribute.has_ref_attr_name();
  }
  const auto tensors = static_cast<uint64_t>(function.input_size() + function.output_size());
  const uint64_t bytes = function.ByteSizeLong() + references * node.ByteSizeLong();
  if (Status s = charge(bytes / 1024 + tensors / 8); !s.ok()) return s;
  const std::vector<onnx::AttributeProto> defaults = default_attributes(function);
  uint64_t default_bytes = 0;
  for (const auto& attribute : defaults) default_bytes += attribute.ByteSizeLong();
  if (Status s = charge(references * default_bytes / 1024); !s.ok()) return s;
  const GraphProto graph = instantiate(function, node, defaults);
  const Opsets opsets = opsets_of(function.opset_import());
  Scope scope;  // a function sees nothing of its caller
  for (int i = 0; i < function.input_size(); ++i) {
    const auto at = static_cast<size_t>(i);
    keep(function.input(i), at < inputs.size() && inputs[at] ? *inputs[at] : Value{}, scope);
  }
  Body body;
  const bool imports = function.opset_import_size() > 0;  // else its caller's
  const Frame inner = {imports ? &opsets : frame.opsets, frame.depth + 1};
  const Status status = visit_body(graph, scope, inner, body);
  if (!status.ok()) return status.at("function " + in_quotes(function.name()));
  for (size_t i = 0; i < outputs.size() && i < body.outputs.size(); ++i) {
    outputs[i] = body.outputs[i];
  }
  finish_control(std::move(body), false, result);
  return {};
}

}  // namespace placeto
