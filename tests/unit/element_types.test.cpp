// Types of elements where shapes are not known: operators that only engines know.
#include "tools/onnx/element_types.h"

#include <doctest/doctest.h>

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
