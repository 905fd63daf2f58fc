// Shapes of operators that give elements another type: casts, quantization, texts, draws. They say
// the type also where the shape of what they read is not known.
#include <algorithm>

#include "tools/onnx/shape_rules.h"

namespace placeto::shape_rules {
namespace {

using onnx::NodeProto;
using onnx::TensorProto;

// Output i is like the first input, of that type.
bool of_type(Inputs inputs, int32_t type, Outputs outputs, size_t i = 0) {
  if (!given(inputs, 0) || type == TensorProto::UNDEFINED || i >= outputs.size()) return false;
  if (const auto dims = inputs[0]->dims()) {
    outputs[i].set_tensor(type, *dims);
  } else {
    outputs[i].type.mutable_tensor_type()->set_elem_type(type);
  }
  return true;
}

int32_t type_attribute(const NodeProto& node, const char* name, int32_t fallback) {
  const auto type = static_cast<int32_t>(int_attribute(node, name, TensorProto::UNDEFINED));
  return type != TensorProto::UNDEFINED ? type : fallback;
}

bool cast(const NodeProto& node, Inputs inputs, Outputs outputs) {
  return of_type(inputs, type_attribute(node, "to", TensorProto::UNDEFINED), outputs);
}

bool cast_like(const NodeProto&, Inputs inputs, Outputs outputs) {
  return given(inputs, 1) && of_type(inputs, inputs[1]->element_type(), outputs);
}

// EyeLike, Bernoulli and random numbers in the shape of a tensor.
bool shaped_like(const NodeProto& node, Inputs inputs, Outputs outputs) {
  const int32_t type = given(inputs, 0) ? inputs[0]->element_type() : int32_t{0};
  return of_type(inputs, type_attribute(node, "dtype", type), outputs);
}

// Multinomial(x [batch, classes])
bool drawn(const NodeProto& node, Inputs inputs, Outputs outputs) {
  const int32_t type = type_attribute(node, "dtype", TensorProto::INT32);
  const Value* x = known(inputs, 0);
  if (x == nullptr) return of_type(inputs, type, outputs);
  if (x->dims()->size() != 2) return false;
  const int64_t count = std::max(int_attribute(node, "sample_size", 1), kUnknownDim);
  set(outputs, 0, type, {(*x->dims())[0], count});
  return true;
}

// QuantizeLinear(x, scale, zero)
bool quantize(const NodeProto& node, Inputs inputs, Outputs outputs) {
  const int32_t type = given(inputs, 2) ? inputs[2]->element_type() : int32_t{TensorProto::UINT8};
  return of_type(inputs, type_attribute(node, "output_dtype", type), outputs);
}

// DequantizeLinear(x, scale, zero)
bool dequantize(const NodeProto& node, Inputs inputs, Outputs outputs) {
  const int32_t type = given(inputs, 1) ? inputs[1]->element_type() : int32_t{0};
  return of_type(inputs, type_attribute(node, "output_dtype", type), outputs);
}

bool matches_text(const NodeProto&, Inputs inputs, Outputs outputs) {
  return of_type(inputs, TensorProto::BOOL, outputs);
}

// StringConcat(a, b)
bool joined_texts(const NodeProto&, Inputs inputs, Outputs outputs) {
  const Value *a = known(inputs, 0), *b = known(inputs, 1);
  const auto dims = a && b ? broadcast(*a->dims(), *b->dims()) : std::nullopt;
  if (dims) {
    set(outputs, 0, TensorProto::STRING, *dims);
  } else if (!outputs.empty()) {
    outputs[0].type.mutable_tensor_type()->set_elem_type(TensorProto::STRING);
  }
  return true;
}

// StringSplit(x) -> parts, as many in the last axis as any text has; how many each text has
bool text_parts(const NodeProto&, Inputs inputs, Outputs outputs) {
  if (!of_type(inputs, TensorProto::STRING, outputs)) return false;
  if (auto dims = outputs[0].dims()) {
    dims->push_back(kUnknownDim);
    set(outputs, 0, TensorProto::STRING, *dims);
  }
  of_type(inputs, TensorProto::INT64, outputs, 1);
  return true;
}

// Scaler, Normalizer: real numbers of any.
bool real_numbers(const NodeProto&, Inputs inputs, Outputs outputs) {
  return of_type(inputs, TensorProto::FLOAT, outputs);
}

}  // namespace

void add_elements(Rules& rules) {
  rules["Cast"] = cast;
  rules["CastLike"] = cast_like;
  for (const char* name : {"EyeLike", "Bernoulli", "RandomNormalLike", "RandomUniformLike"}) {
    rules[name] = shaped_like;
  }
  rules["Multinomial"] = drawn;
  rules["QuantizeLinear"] = quantize;
  rules["DequantizeLinear"] = dequantize;
  rules["RegexFullMatch"] = matches_text;
  rules["StringConcat"] = joined_texts;
  rules["StringSplit"] = text_parts;
}

void add_microsoft_elements(Rules& rules) {
  rules["QuantizeLinear"] = quantize;
  rules["DequantizeLinear"] = dequantize;
}

void add_learning_elements(Rules& rules) {
  rules["Scaler"] = real_numbers;
  rules["Normalizer"] = real_numbers;
}

}  // namespace placeto::shape_rules
