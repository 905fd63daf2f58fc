#include "tools/onnx/library_inference.h"

#include <onnx/shape_inference/implementation.h>

#include <algorithm>
#include <map>
#include <set>
#include <string_view>
#include <type_traits>
#include <unordered_map>

#include "runtime/graph/text.h"
#include "tools/onnx/window_problem.h"

namespace placeto {
namespace {

using onnx::AttributeProto;
using onnx::NodeProto;

// What an operator may read and write for the library to be asked about it, and what is kept of
// its answers.
constexpr int kMostTensors = 1 << 16;
constexpr size_t kMostAnswerBytes = 32 << 20;

// Attributes that the schema does not know come from newer operator sets. Those that change shapes
// have rules of their own (rules.h); the rest (saturate, reduction, ...) can go. Names are the
// first position where they stand, so that nodes that differ in nothing else ask the same.
NodeProto known_part(const NodeProto& node, const onnx::OpSchema& schema) {
  NodeProto part;
  part.set_op_type(node.op_type());
  part.set_domain(node.domain());
  std::map<std::string_view, int> first;
  for (int i = 0; i < node.input_size(); ++i) {
    const std::string& name = node.input(i);
    const int position = first.emplace(name, i).first->second;
    part.add_input(name.empty() ? "" : "input " + std::to_string(position));
  }
  for (int i = 0; i < node.output_size(); ++i) {
    part.add_output(node.output(i).empty() ? "" : "output " + std::to_string(i));
  }
  for (const auto& attribute : node.attribute()) {
    if (schema.attributes().contains(attribute.name())) *part.add_attribute() = attribute;
  }
  return part;
}

bool positive(const AttributeProto& attribute) {
  constexpr int64_t kMost = int64_t{1} << 31;
  return std::all_of(attribute.ints().begin(), attribute.ints().end(),
                     [](int64_t x) { return x > 0 && x <= kMost; });
}

bool small(const AttributeProto& attribute) {
  constexpr int64_t kMost = int64_t{1} << 40;
  return std::all_of(attribute.ints().begin(), attribute.ints().end(),
                     [](int64_t x) { return x >= -kMost && x <= kMost; });
}

// Operators that slide a window over an image, and which input holds the filter; 0: none does.
size_t filter_position(const std::string& op, bool& slides) {
  slides = true;
  if (op == "Conv" || op == "ConvTranspose" || op == "ConvInteger") return 1;
  if (op == "QLinearConv") return 3;
  slides = op == "MaxPool" || op == "AveragePool" || op == "LpPool";
  return 0;
}

int rank_at(std::span<const Value* const> inputs, size_t i) {
  const auto dims = i < inputs.size() && inputs[i] ? inputs[i]->dims() : std::nullopt;
  return dims ? static_cast<int>(dims->size()) : -1;
}

// The library takes it that image, filter and attributes have matching numbers of axes.
std::string window_objection(const NodeProto& node, std::span<const Value* const> inputs) {
  bool slides = false;
  const size_t filter = filter_position(node.op_type(), slides);
  if (!slides) return "";
  const int rank = rank_at(inputs, 0);
  if (rank < 3) return "its input is no image: it has fewer than 3 axes";
  if (filter != 0 && rank_at(inputs, filter) != rank)
    return "its input and its filter differ in axes";
  for (const auto& attribute : node.attribute()) {
    const std::string& name = attribute.name();
    const bool per_axis = name == "strides" || name == "dilations" || name == "kernel_shape" ||
                          name == "output_padding" || name == "output_shape";
    const int expected = name == "pads" ? 2 * (rank - 2) : per_axis ? rank - 2 : -1;
    if (expected >= 0 && attribute.ints_size() != expected) {
      return "attribute " + name + " has " + std::to_string(attribute.ints_size()) +
             " entries, expected " + std::to_string(expected);
    }
  }
  return window_problem(node, inputs);  // the library would divide a negative number by the stride
}

// Operators whose output has as many axes as one of their inputs has elements.
size_t shape_position(const std::string& op, bool& shaped) {
  shaped = op == "Expand" || op == "Reshape" || op == "ConstantOfShape" || op == "Tile";
  return op == "ConstantOfShape" ? 0 : 1;
}

std::string shape_objection(const NodeProto& node, std::span<const Value* const> inputs) {
  bool shaped = false;
  const size_t i = shape_position(node.op_type(), shaped);
  if (!shaped || i >= inputs.size() || inputs[i] == nullptr) return "";
  const auto dims = inputs[i]->dims();
  if (!dims || dims->size() != 1 || (*dims)[0] <= static_cast<int64_t>(kMaxRank)) return "";
  return "its input " + in_quotes(node.input(static_cast<int>(i))) + " asks for " +
         std::to_string((*dims)[0]) + " axes, expected at most " + std::to_string(kMaxRank);
}

// What the library is known to compute with unchecked, for a reason that says more than that it
// crashed. Found by giving every operator of libonnx-testdata inputs of all ranks, and by fuzzing.
std::string objection(const NodeProto& node, std::span<const Value* const> inputs) {
  const std::string& op = node.op_type();
  if (node.input_size() > kMostTensors || node.output_size() > kMostTensors) {
    return "it reads or writes more than " + std::to_string(kMostTensors) + " tensors";
  }
  if (op == "STFT" || op == "MaxUnpool" || op == "GatherND") {
    return "its inputs are not what " + op + " takes, or libonnx cannot be trusted with it";
  }
  if (op == "Gemm" && (rank_at(inputs, 0) != 2 || rank_at(inputs, 1) != 2)) {
    return "its inputs are no matrices";
  }
  const bool recurrent = op == "RNN" || op == "GRU" || op == "LSTM";
  if (recurrent && (rank_at(inputs, 0) != 3 || rank_at(inputs, 1) != 3)) {
    return "its input or its weights do not have 3 axes";
  }
  if (std::string shape = shape_objection(node, inputs); !shape.empty()) return shape;
  for (const auto& attribute : node.attribute()) {
    const std::string& name = attribute.name();
    const bool window = name == "strides" || name == "dilations" || name == "kernel_shape";
    if (window && !positive(attribute)) return "attribute " + name + " has entries below 1";
    if ((name == "pads" || name == "output_padding") && !small(attribute)) {
      return "attribute " + name + " is out of range";
    }
  }
  return window_objection(node, inputs);
}

// An input that the operator needs and whose type is not known; "" if there is none.
std::string unknown_input(const NodeProto& node, std::span<const Value* const> inputs) {
  for (int i = 0; i < node.input_size(); ++i) {
    const Value* value = inputs[static_cast<size_t>(i)];
    if (value == nullptr) continue;
    const bool shapeless = value->is_tensor() && !value->dims();
    if (value->type.value_case() == onnx::TypeProto::VALUE_NOT_SET || shapeless) {
      return node.input(i);
    }
  }
  return "";
}

// DFT has its axis in an input from operator set 20 on, by default the last but one; before, in an
// attribute, by default the first behind the batch. The older one of the library is asked for both.
// False if the axis is not known.
bool as_older_dft(std::span<const Value* const> inputs, NodeProto& node) {
  int64_t axis = -2;
  if (inputs.size() > 2 && inputs[2] != nullptr) {
    const Constant* const given = inputs[2]->constant.get();
    if (given == nullptr || given->size() != 1) return false;
    axis = static_cast<int64_t>(given->number(0));
  }
  if (node.input_size() > 2) node.mutable_input()->DeleteSubrange(2, node.input_size() - 2);
  AttributeProto& attribute = *node.add_attribute();
  attribute.set_name("axis");
  attribute.set_type(AttributeProto::INT);
  attribute.set_i(axis < 0 ? axis + rank_at(inputs, 0) : axis);
  return true;
}

// Newer versions of the library take options here, too.
template <typename Context, typename... Arguments>
Context inference_context(Arguments&... arguments) {
  if constexpr (std::is_constructible_v<Context, Arguments&...>) {
    return Context(arguments...);
  } else {
    return Context(arguments..., onnx::ShapeInferenceOptions{});
  }
}

// What the child is asked: a graph with the node, the types of its inputs and the content of those
// that are known.
onnx::ModelProto request_for(const NodeProto& node, std::span<const Value* const> inputs,
                             const onnx::OpSchema& schema, const std::string& domain, int version) {
  onnx::ModelProto request;
  auto* opset = request.add_opset_import();
  opset->set_domain(domain);
  opset->set_version(version);
  onnx::GraphProto& graph = *request.mutable_graph();
  const NodeProto& asked = *graph.add_node() = known_part(node, schema);
  std::set<std::string_view> named;
  for (size_t i = 0; i < inputs.size(); ++i) {
    const std::string& name = asked.input(static_cast<int>(i));
    if (inputs[i] == nullptr || !named.insert(name).second) continue;
    auto* input = graph.add_input();
    input->set_name(name);
    *input->mutable_type() = inputs[i]->type;
    if (inputs[i]->constant == nullptr) continue;
    auto* content = graph.add_initializer();
    *content = to_tensor(*inputs[i]->constant);
    content->set_name(name);
  }
  return request;
}

// Its answer: a graph with the types of the outputs.
onnx::GraphProto call(onnx::ModelProto& request) {
  onnx::GraphProto& graph = *request.mutable_graph();
  NodeProto& node = *graph.mutable_node(0);
  const auto& opset = request.opset_import(0);
  const onnx::OpSchema* schema = onnx::OpSchemaRegistry::Schema(
      node.op_type(), static_cast<int>(opset.version()), opset.domain());
  schema->Verify(node);
  // As libonnx takes them: of the names of one node, which are few.
  std::unordered_map<std::string, onnx::TypeProto*> types;
  std::unordered_map<std::string, const onnx::TensorProto*> data;
  for (auto& input : *graph.mutable_input()) types[input.name()] = input.mutable_type();
  for (const auto& tensor : graph.initializer()) data[tensor.name()] = &tensor;
  const std::unordered_map<std::string, const onnx::SparseTensorProto*> sparse_data;
  auto context = inference_context<onnx::shape_inference::InferenceContextImpl>(node, types, data,
                                                                                sparse_data);
  schema->GetTypeAndShapeInferenceFunction()(context);
  onnx::GraphProto answer;
  for (const auto& type : context.allOutputTypes_) *answer.add_output()->mutable_type() = type;
  return answer;
}

// Without "[ShapeInferenceError] ". Some messages list all entries of an attribute.
std::string first_line(std::string_view text) {
  constexpr size_t kMostBytes = 300;
  constexpr std::string_view kTag = "Error] ";
  text = text.substr(0, text.find('\n'));
  const size_t tag = text.substr(0, kMostBytes).find(kTag);
  if (tag != std::string_view::npos) text.remove_prefix(tag + kTag.size());
  if (text.size() <= kMostBytes) return std::string(text);
  return std::string(text.substr(0, valid_utf8_prefix(text.substr(0, kMostBytes)))) + "...";
}

}  // namespace

std::string LibraryInference::serve(const std::string& bytes) {
  onnx::ModelProto request;
  if (!request.ParseFromString(bytes)) return "";
  return call(request).SerializeAsString();
}

const Result<std::string>& LibraryInference::answer_to(std::string request) {
  if (const auto known = answers_.find(request); known != answers_.end()) return known->second;
  Result<std::string> answer = child_.ask(request);
  answer_bytes_ += request.size() + (answer.ok() ? answer->size() : 0);
  if (answer_bytes_ > kMostAnswerBytes) {
    answers_.clear();
    answer_bytes_ = 0;
  }
  return answers_.emplace(std::move(request), std::move(answer)).first->second;
}

void LibraryInference::infer(const NodeProto& node, std::span<const Value* const> inputs,
                             const Opsets& opsets, std::span<Value> outputs, std::string& problem) {
  const std::string domain = is_default_domain(node.domain()) ? "" : node.domain();
  const auto version = opsets.find(domain);
  const onnx::OpSchema* schema =
      version == opsets.end()
          ? nullptr
          : onnx::OpSchemaRegistry::Schema(node.op_type(), version->second, domain);
  if (schema == nullptr || !schema->has_type_and_shape_inference_function()) {
    problem = "no shape rule for operator " + in_quotes(node.op_type()) +
              (domain.empty() ? "" : " of " + in_quotes(domain));
    return;
  }
  if (const std::string name = unknown_input(node, inputs); !name.empty()) {
    problem = "the shape of its input " + in_quotes(name) + " is not known";
    return;
  }
  if (problem = objection(node, inputs); !problem.empty()) return;
  NodeProto asked = node;
  const int axis_is_input = 20;  // operator set
  if (node.op_type() == "DFT" && domain.empty() && version->second >= axis_is_input &&
      schema->since_version() < axis_is_input) {
    if (!as_older_dft(inputs, asked)) {
      problem = "its axis is not known";
      return;
    }
    inputs = inputs.first(std::min<size_t>(inputs.size(), 2));
  }
  const onnx::ModelProto request = request_for(asked, inputs, *schema, domain, version->second);
  const Result<std::string>& bytes = answer_to(request.SerializeAsString());
  if (!bytes.ok()) {
    if (bytes.status().code() == StatusCode::kInternal) failure_ = bytes.status();
    problem = "libonnx: " + first_line(bytes.status().message());
    const std::string nameless = "Node ()";  // as it was asked
    const size_t at = problem.find(nameless);
    if (at != std::string::npos) problem.replace(at, nameless.size(), "the node");
    return;
  }
  onnx::GraphProto answer;
  if (!answer.ParseFromString(*bytes)) {
    problem = "libonnx gave no answer";
    return;
  }
  const int known = std::min(answer.output_size(), static_cast<int>(outputs.size()));
  for (int i = 0; i < known; ++i) {
    outputs[static_cast<size_t>(i)].type = std::move(*answer.mutable_output(i)->mutable_type());
  }
  // Before operator set 10 the mask is like the data, and the library leaves it out.
  const bool maskless = node.op_type() == "Dropout" && outputs.size() == 2 && !outputs[1].dims();
  if (maskless) outputs[1].type = outputs[0].type;
}

}  // namespace placeto
