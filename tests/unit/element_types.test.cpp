// Types of elements where shapes are not known: operators that only engines know.
#include "tools/onnx/element_types.h"

#include <doctest/doctest.h>

#include <optional>
#include <vector>

using namespace placeto;

namespace {

// The type of the only output of an operator that reads one tensor of 16-bit floats.
int32_t type_of(const char* domain, const char* op) {
  onnx::NodeProto node;
  node.set_domain(domain);
  node.set_op_type(op);
  Value input;
  input.type.mutable_tensor_type()->set_elem_type(onnx::TensorProto::FLOAT16);
  const Value* const inputs[] = {&input};
  Value outputs[1];
  infer_element_types(node, inputs, {}, outputs);
  return outputs[0].element_type();
}

}  // namespace

TEST_CASE("operators that an engine wrote into a model have the types that it gives them") {
  CHECK(type_of("com.microsoft", "QuickGelu") == onnx::TensorProto::FLOAT16);
  CHECK(type_of("com.microsoft", "FusedConv") == onnx::TensorProto::FLOAT16);
  CHECK(type_of("com.microsoft.nchwc", "ReorderInput") == onnx::TensorProto::FLOAT);
  CHECK(type_of("com.microsoft", "DequantizeLinear") == onnx::TensorProto::FLOAT);
  CHECK(type_of("com.microsoft", "QuantizeLinear") == 0);
  CHECK(type_of("somebody.else", "QuickGelu") == 0);
}

TEST_CASE("an engine's operators have the types that it gives all their outputs") {
  using onnx::TensorProto;
  const auto types = [](const char* op, std::vector<int32_t> of_inputs, size_t outputs,
                        std::optional<int64_t> positive = {}) {
    onnx::NodeProto node;
    node.set_domain("com.microsoft");
    node.set_op_type(op);
    if (positive) {
      auto* attribute = node.add_attribute();
      attribute->set_name("positive");
      attribute->set_type(onnx::AttributeProto::INT);
      attribute->set_i(*positive);
    }
    std::vector<Value> values(of_inputs.size()), results(outputs);
    std::vector<const Value*> inputs;
    for (size_t i = 0; i < values.size(); ++i) {
      values[i].type.mutable_tensor_type()->set_elem_type(of_inputs[i]);
      inputs.push_back(&values[i]);
    }
    infer_element_types(node, inputs, {}, results);
    std::vector<int32_t> all;
    for (const Value& result : results) all.push_back(result.element_type());
    return all;
  };
  using Types = std::vector<int32_t>;
  constexpr int32_t kFloat = TensorProto::FLOAT, kInt32 = TensorProto::INT32,
                    kInt64 = TensorProto::INT64, kByte = TensorProto::UINT8;
  CHECK(types("NGramRepeatBlock", {kInt64, kFloat}, 1) == Types{kFloat});
  CHECK(types("WordConvEmbedding", {kInt32, kFloat, kFloat, kFloat}, 1) == Types{kFloat});
  CHECK(types("DynamicTimeWarping", {kFloat}, 1) == Types{kInt32});
  CHECK(types("MurmurHash3", {kInt32}, 1) == Types{TensorProto::UINT32});
  CHECK(types("MurmurHash3", {kInt64}, 1, 0) == Types{kInt32});
  CHECK(types("Unique", {kFloat}, 3) == Types{kFloat, kInt64, kInt64});
  CHECK(types("BifurcationDetector", {kInt64, kInt64}, 2) == Types{kInt64, kInt64});
  CHECK(types("EmbedLayerNormalization", {kInt32, kInt32, kFloat}, 3) ==
        Types{kFloat, kInt32, kFloat});
  CHECK(types("QAttention", {kByte, kByte, kFloat, kFloat}, 2) == Types{kFloat, kFloat});
  CHECK(types("QLinearConcat", {kFloat, kByte, kByte}, 1) == Types{kByte});
  CHECK(types("QLinearWhere", {TensorProto::BOOL, kByte}, 1) == Types{kByte});
  const Types gemm = {kByte, kFloat, kByte, kByte, kFloat, kByte, kInt32, kFloat, kByte};
  CHECK(types("QGemm", gemm, 1) == Types{kByte});
  CHECK(types("QGemm", {gemm.begin(), gemm.end() - 2}, 1) == Types{kFloat});
  CHECK(types("NGramRepeatBlock", {kInt64}, 1) == Types{0});
  CHECK(types("QuickGelu", {kFloat}, 2) == Types{kFloat, 0});
}

TEST_CASE("operators that the library is too old for have the type of their first input") {
  for (const char* op : {"AffineGrid", "CenterCropPad", "Col2Im", "DeformConv", "Gelu",
                         "GridSample", "RMSNormalization"}) {
    CHECK_MESSAGE(type_of("", op) == onnx::TensorProto::FLOAT16, op);
  }
  CHECK(type_of("", "BlackmanWindow") == 0);
  CHECK(type_of("somebody.else", "Gelu") == 0);
}

TEST_CASE("present keys and values have the types of the new ones") {
  onnx::NodeProto node;
  node.set_op_type("Attention");
  Value query, key, value;
  query.type.mutable_tensor_type()->set_elem_type(onnx::TensorProto::FLOAT);
  key.type.mutable_tensor_type()->set_elem_type(onnx::TensorProto::FLOAT16);
  value.type.mutable_tensor_type()->set_elem_type(onnx::TensorProto::DOUBLE);
  const Value* const inputs[] = {&query, &key, &value};
  Value outputs[4];
  infer_element_types(node, inputs, {}, outputs);
  CHECK(outputs[0].element_type() == onnx::TensorProto::FLOAT);
  CHECK(outputs[1].element_type() == onnx::TensorProto::FLOAT16);
  CHECK(outputs[2].element_type() == onnx::TensorProto::DOUBLE);
  CHECK(outputs[3].element_type() == onnx::TensorProto::FLOAT);
}
