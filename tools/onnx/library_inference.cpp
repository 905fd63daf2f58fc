#include "tools/onnx/library_inference.h"

#include <onnx/shape_inference/implementation.h>

#include <algorithm>
#include <exception>
#include <new>
#include <type_traits>

#include "runtime/graph/text.h"

namespace placeto {
namespace {

using onnx::AttributeProto;
using onnx::NodeProto;

// Attributes that the schema does not know come from newer operator sets. Those that change shapes
// have rules of their own (rules.h); the rest (saturate, reduction, ...) can go.
NodeProto known_part(const NodeProto& node, const onnx::OpSchema& schema) {
  NodeProto part = node;
  part.clear_attribute();
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
  return "";
}

// What the library computes with unchecked. Found by giving every operator of libonnx-testdata
// inputs of all ranks, and by fuzzing.
std::string objection(const NodeProto& node, std::span<const Value* const> inputs) {
  const std::string& op = node.op_type();
  if (op == "STFT" || op == "MaxUnpool" || op == "GatherND") {
    return "its inputs are not what " + op + " takes, or libonnx cannot be trusted with it";
  }
  if (op == "Gemm" && (rank_at(inputs, 0) != 2 || rank_at(inputs, 1) != 2)) {
    return "its inputs are no matrices";
  }
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

// Newer versions of the library take options here, too.
template <typename Context, typename... Arguments>
Context inference_context(Arguments&... arguments) {
  if constexpr (std::is_constructible_v<Context, Arguments&...>) {
    return Context(arguments...);
  } else {
    return Context(arguments..., onnx::ShapeInferenceOptions{});
  }
}

void call(NodeProto& node, std::span<const Value* const> inputs, const onnx::OpSchema& schema,
          std::span<Value> outputs) {
  std::unordered_map<std::string, onnx::TypeProto*> types;
  std::unordered_map<std::string, const onnx::TensorProto*> data;
  std::vector<onnx::TypeProto> own_types(inputs.size());
  std::vector<onnx::TensorProto> own_data(inputs.size());
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (inputs[i] == nullptr) continue;
    const std::string& name = node.input(static_cast<int>(i));
    own_types[i] = inputs[i]->type;
    types[name] = &own_types[i];
    if (inputs[i]->constant == nullptr) continue;
    own_data[i] = to_tensor(*inputs[i]->constant);
    data[name] = &own_data[i];
  }
  const std::unordered_map<std::string, const onnx::SparseTensorProto*> sparse_data;
  auto context = inference_context<onnx::shape_inference::InferenceContextImpl>(node, types, data,
                                                                                sparse_data);
  schema.GetTypeAndShapeInferenceFunction()(context);
  for (size_t i = 0; i < outputs.size(); ++i) {
    outputs[i].type = context.allOutputTypes_[i];
  }
  // Before operator set 10 the mask is like the data, and the library leaves it out.
  const bool maskless = node.op_type() == "Dropout" && outputs.size() == 2 && !outputs[1].dims();
  if (maskless) outputs[1].type = outputs[0].type;
}

std::string first_line(const char* text) {
  const std::string line(text, std::find(text, text + std::char_traits<char>::length(text), '\n'));
  const size_t tag = line.find("Error] ");  // "[ShapeInferenceError] "
  return tag == std::string::npos ? line : line.substr(tag + 7);
}

}  // namespace

bool infer_with_library(const NodeProto& node, std::span<const Value* const> inputs,
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
    return false;
  }
  if (const std::string name = unknown_input(node, inputs); !name.empty()) {
    problem = "the shape of its input " + in_quotes(name) + " is not known";
    return false;
  }
  if (problem = objection(node, inputs); !problem.empty()) return false;
  try {
    NodeProto part = known_part(node, *schema);
    schema->Verify(part);
    call(part, inputs, *schema, outputs);
    return true;
  } catch (const std::bad_alloc&) {
    throw;
  } catch (const std::exception& error) {  // what libonnx throws
    problem = first_line(error.what());
    return false;
  }
}

}  // namespace placeto
