// Nodes with graphs inside: If, Loop, Scan, SequenceMap, and calls of functions that the model
// defines.
#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "runtime/base/saturating.h"
#include "runtime/graph/text.h"
#include "tools/onnx/analyzer.h"
#include "tools/onnx/functions.h"
#include "tools/onnx/stated_types.h"
#include "tools/onnx/visit_cost.h"

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

// The type of the elements of a list, or of what may be there; null for others.
const onnx::TypeProto* element_of(const onnx::TypeProto& type) {
  if (type.has_sequence_type()) return &type.sequence_type().elem_type();
  return type.has_optional_type() ? &type.optional_type().elem_type() : nullptr;
}

// What is known of a value that is one or the other. Both have one type of elements, so where only
// one of them is known it is the other's, too.
Value either(const Value& a, const Value& b) {
  Value out;
  const auto* inner_a = element_of(a.type);
  const auto* inner_b = element_of(b.type);
  if (inner_a != nullptr && inner_b != nullptr && a.type.value_case() == b.type.value_case()) {
    const Value inner = either({*inner_a, nullptr}, {*inner_b, nullptr});
    if (inner.type.value_case() == onnx::TypeProto::VALUE_NOT_SET) return out;
    auto& to = a.type.has_sequence_type() ? *out.type.mutable_sequence_type()->mutable_elem_type()
                                          : *out.type.mutable_optional_type()->mutable_elem_type();
    to = inner.type;
    return out;
  }
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

// What both branches of an If say of an output, where they differ; "" if they agree so far.
std::string difference(const std::string& output, const Value& a, const Value& b) {
  const auto x = a.dims(), y = b.dims();
  if (!x || !y || *x == *y) return "";
  return "its branches make its output " + in_quotes(output) + " " + lengths_text(*x) + " or " +
         lengths_text(*y);
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

}  // namespace

Status Analyzer::visit_if(const NodeProto& node, const NodeInputs& inputs, const Scope& scope,
                          const Frame& frame, std::vector<Value>& outputs, NodeAnalysis& result) {
  const Constant* condition =
      !inputs.empty() && inputs[0] != nullptr ? inputs[0]->constant.get() : nullptr;
  const bool decided = condition != nullptr && condition->size() == 1;
  if (decided) {
    decided_[&node] = condition->number(0) != 0;
  } else {
    decided_.erase(&node);  // a loop around it comes to know less of what goes in
  }
  Body chosen;
  std::string unlike;
  bool first = true;
  for (const char* name : {"then_branch", "else_branch"}) {
    const GraphProto* graph = body_of(node, name);
    if (graph == nullptr) return no_body(name);
    if (decided && (condition->number(0) != 0) != (name[0] == 't')) continue;
    Scope inner(&scope);
    Body body;
    const Frame branch = {frame.opsets, frame.depth + 1, decided && frame.always};
    const Status status = visit_body(*graph, inner, branch, body);
    if (!status.ok()) return status.at(name);
    for (size_t i = 0; i < outputs.size() && i < body.outputs.size(); ++i) {
      if (!first && unlike.empty()) {
        unlike = difference(node.output(static_cast<int>(i)), outputs[i], body.outputs[i]);
      }
      outputs[i] = first ? body.outputs[i] : either(outputs[i], body.outputs[i]);
    }
    if (first || body.work.flops > chosen.work.flops) chosen = std::move(body);
    first = false;
  }
  if (chosen.problem.empty()) chosen.problem = std::move(unlike);
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

// So many visits of a Loop's body find out which axes of its states stay as they are; then none is
// taken to, and soon nothing is known of what still changes.
constexpr int kMostVisits = 3;

// Takes from what is known of states as they enter a Loop's body what is not true of them as they
// leave it. True if that changed anything.
bool widen(const std::vector<Value>& left, std::vector<Value>& states) {
  bool changed = false;
  for (size_t i = 0; i < states.size() && i + 1 < left.size(); ++i) {
    Value now = either(states[i], left[i + 1]);  // after the condition
    changed |= now.type.SerializeAsString() != states[i].type.SerializeAsString();
    states[i] = std::move(now);
  }
  return changed;
}

}  // namespace

// Loop(max trips, condition, state...) -> state..., one entry per iteration...
//
// The body is visited with the states as they are at first, for what one iteration works, then with
// what is true of them in every iteration, for what the node makes.
Status Analyzer::visit_loop(const NodeProto& node, const NodeInputs& inputs, const Scope& scope,
                            const Frame& frame, std::vector<Value>& outputs, NodeAnalysis& result) {
  const GraphProto* graph = body_of(node, "body");
  if (graph == nullptr) return no_body("body");
  std::vector<Value> states;
  for (size_t i = 2; i < inputs.size() && i < static_cast<size_t>(graph->input_size()); ++i) {
    const Value state = bind(inputs[i], graph->input(static_cast<int>(i)));
    states.push_back(either(state, state));  // without names of axes
  }
  Body body, first;
  for (int visit = 1;; ++visit) {
    Scope inner(&scope);
    for (int i = 0; i < graph->input_size(); ++i) {
      const auto at = static_cast<size_t>(i);
      Value value =
          at >= 2 && at - 2 < states.size() ? states[at - 2] : bind(nullptr, graph->input(i));
      if (i < 2) value.set_tensor(i == 0 ? onnx::TensorProto::INT64 : onnx::TensorProto::BOOL, {});
      if (i == 1 && at < inputs.size() && is_true(inputs[at])) value = boolean(true);
      keep(graph->input(i).name(), std::move(value), inner);
    }
    body = Body();
    const Status status = visit_body(*graph, inner, {frame.opsets, frame.depth + 1}, body);
    if (!status.ok()) return status.at("body");
    if (visit == 1) first = body;
    if (!widen(body.outputs, states)) break;
    for (Value& state : states) {
      if (visit == kMostVisits && state.is_tensor()) {
        state.type.mutable_tensor_type()->clear_shape();
      }
      if (visit >= 2 * kMostVisits) state = Value{};
    }
    if (visit > 2 * kMostVisits) break;
  }
  const auto trips = trips_of(inputs, !body.outputs.empty() && is_true(&body.outputs[0]));
  for (size_t i = 0; i < outputs.size() && i + 1 < body.outputs.size(); ++i) {
    outputs[i] = i < states.size() ? states[i]
                                   : with_axis(body.outputs[i + 1], 0,
                                               trips ? static_cast<int64_t>(*trips) : kUnknownDim);
  }
  if (trips) repeat_work(first.work, *trips);
  finish_control(std::move(first), true, result);
  return {};
}

// Scan(state..., sequence...) -> state..., sequence... Before operator set 9 the first input is how
// long the sequences are, and all others and all outputs begin with an axis of batches, each of
// which the body runs for.
Status Analyzer::visit_scan(const NodeProto& node, const NodeInputs& inputs, const Scope& scope,
                            const Frame& frame, std::vector<Value>& outputs, NodeAnalysis& result) {
  const GraphProto* graph = body_of(node, "body");
  if (graph == nullptr) return no_body("body");
  const bool batched = frame.opsets->at("") < 9;
  const size_t before = batched && !inputs.empty() ? 1 : 0;
  const int64_t sequences = int_attribute(node, "num_scan_inputs", 0);
  const auto given = static_cast<int64_t>(inputs.size() - before);
  if (sequences < 1 || sequences > given) {
    return Status::bad_input("has num_scan_inputs " + std::to_string(sequences) + " with " +
                             std::to_string(given) + " inputs, expected 1 to that many");
  }
  const auto states = static_cast<size_t>(given - sequences);
  const auto axes = ints_attribute(node, "scan_input_axes");
  const auto out_axes = ints_attribute(node, "scan_output_axes");
  int64_t length = kUnknownDim, batch = kUnknownDim;
  Scope inner(&scope);
  for (int i = 0; i < graph->input_size(); ++i) {
    const auto at = static_cast<size_t>(i);
    const Value* read = at + before < inputs.size() ? inputs[at + before] : nullptr;
    Value value = bind(read, graph->input(i));
    auto dims = read != nullptr ? read->dims() : std::nullopt;
    if (batched && dims && !dims->empty()) {
      if (dims->front() >= 0) batch = dims->front();
      dims->erase(dims->begin());
    }
    if (at >= states && dims) {
      const size_t k = at - states;
      const auto axis = resolve_axis(k < axes.size() ? axes[k] : 0, dims->size());
      if (!axis) return Status::bad_input("has scan_input_axes that its inputs do not have");
      if ((*dims)[*axis] >= 0) length = (*dims)[*axis];
      dims->erase(dims->begin() + static_cast<std::ptrdiff_t>(*axis));
    }
    if (dims && (batched || at >= states)) value.set_tensor(read->element_type(), *dims);
    keep(graph->input(i).name(), std::move(value), inner);
  }
  Body body;
  const Status status = visit_body(*graph, inner, {frame.opsets, frame.depth + 1}, body);
  if (!status.ok()) return status.at("body");
  for (size_t i = 0; i < outputs.size() && i < body.outputs.size(); ++i) {
    outputs[i] = body.outputs[i];
    outputs[i].constant = nullptr;
    if (i >= states) {
      const auto rank = body.outputs[i].dims() ? body.outputs[i].dims()->size() + 1 : size_t{1};
      const int64_t wanted = i - states < out_axes.size() ? out_axes[i - states] : 0;
      outputs[i] = with_axis(body.outputs[i], resolve_axis(wanted, rank).value_or(0), length);
    }
    if (batched) outputs[i] = with_axis(outputs[i], 0, batch);
  }
  if (length >= 0) repeat_work(body.work, static_cast<uint64_t>(length));
  if (batch >= 0) repeat_work(body.work, static_cast<uint64_t>(batch));
  finish_control(std::move(body), true, result);
  return {};
}

// SequenceMap(list, list or tensor...) -> list...: the body reads an element of each list, and all
// of each tensor. How many elements there are is not known; the work is that for one.
Status Analyzer::visit_sequence_map(const NodeProto& node, const NodeInputs& inputs,
                                    const Scope& scope, const Frame& frame,
                                    std::vector<Value>& outputs, NodeAnalysis& result) {
  const GraphProto* graph = body_of(node, "body");
  if (graph == nullptr) return no_body("body");
  Scope inner(&scope);
  for (int i = 0; i < graph->input_size(); ++i) {
    const auto at = static_cast<size_t>(i);
    Value given;
    if (at < inputs.size() && inputs[at] != nullptr) given.type = inputs[at]->type;
    if (given.type.has_sequence_type()) {
      given.type = onnx::TypeProto(given.type.sequence_type().elem_type());
    }
    keep(graph->input(i).name(), bind(&given, graph->input(i)), inner);
  }
  Body body;
  const Status status = visit_body(*graph, inner, {frame.opsets, frame.depth + 1}, body);
  if (!status.ok()) return status.at("body");
  for (size_t i = 0; i < outputs.size() && i < body.outputs.size(); ++i) {
    const onnx::TypeProto& type = body.outputs[i].type;
    if (type.value_case() == onnx::TypeProto::VALUE_NOT_SET) continue;
    *outputs[i].type.mutable_sequence_type()->mutable_elem_type() = type;
  }
  finish_control(std::move(body), true, result);
  return {};
}

Status Analyzer::call(const FunctionProto& function, const NodeProto& node,
                      const NodeInputs& inputs, const Frame& frame, std::vector<Value>& outputs,
                      NodeAnalysis& result) {
  // A copy of its nodes, with an attribute of the call or of its own wherever one is referred to.
  // What has no content takes two bytes there, and fifty times as many once it is read.
  constexpr uint64_t kCopiedPerNode = 128, kParsedPerNode = 32;
  const auto tensors = static_cast<uint64_t>(function.input_size() + function.output_size());
  const uint64_t calling = function.ByteSizeLong() / kBytesPerNode + tensors / kTensorsPerNode +
                           default_bytes(function) / kParsedPerNode;
  if (Status s = charge(calling); !s.ok()) return s;
  const uint64_t given = attribute_bytes(function, node);
  if (Status s = charge(given / kCopiedPerNode); !s.ok()) return s;
  const GraphProto graph = instantiate(function, node);
  const Opsets opsets = opsets_of(function.opset_import());
  Scope scope;  // a function sees nothing of its caller
  for (int i = 0; i < function.input_size(); ++i) {
    const auto at = static_cast<size_t>(i);
    keep(function.input(i), at < inputs.size() && inputs[at] ? *inputs[at] : Value{}, scope);
  }
  Body body;
  const bool imports = function.opset_import_size() > 0;  // else its caller's
  const Frame inner = {imports ? &opsets : frame.opsets, frame.depth + 1, frame.always};
  const Status status = visit_body(graph, scope, inner, body);
  if (!status.ok()) return status.at("function " + in_quotes(function.name()));
  for (size_t i = 0; i < outputs.size() && i < body.outputs.size(); ++i) {
    outputs[i] = body.outputs[i];
  }
  finish_control(std::move(body), false, result);
  return {};
}

}  // namespace placeto
