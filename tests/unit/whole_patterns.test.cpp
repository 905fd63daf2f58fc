// What engines run as one becomes a group on import.
#include "tools/costs/whole_patterns.h"

#include <doctest/doctest.h>

#include "tests/support/onnx_models.h"
#include "tools/onnx/import.h"

using namespace placeto;
using namespace placeto::test;

namespace {

std::vector<NodeSpec> nodes_of(const OnnxBuilder& builder, bool tear = false) {
  ImportOptions options;
  if (tear) options.patterns = {};
  const std::string bytes = builder.bytes();
  auto result = import_onnx(as_bytes(bytes), "model", options);
  REQUIRE_MESSAGE(result.ok(), result.status().message());
  return result->spec.nodes;
}

// Groups by letters in the order of nodes: "aab.c" for two groups, a node alone and one more.
std::string groups(const std::vector<NodeSpec>& nodes) {
  std::vector<std::string> keys;
  std::string text;
  for (const NodeSpec& node : nodes) {
    if (node.colocate.empty()) {
      text += '.';
      continue;
    }
    size_t k = 0;
    while (k < keys.size() && keys[k] != node.colocate) ++k;
    if (k == keys.size()) keys.push_back(node.colocate);
    text += static_cast<char>('a' + static_cast<int>(k));
  }
  return text;
}

// An 'f' for each that takes no time where it is estimated.
std::string fused(const std::vector<NodeSpec>& nodes) {
  std::string text;
  for (const NodeSpec& node : nodes) text += node.fused ? 'f' : '.';
  return text;
}

void add_scales(OnnxBuilder& b) {
  b.weight("scale", {1});
  b.weight("zero", {1}, onnx::TensorProto::UINT8, 1);
}

}  // namespace

//  x - Q - DQ - Conv - Relu - Q - DQ - MaxPool - Q - DQ - y
//         DQ(w) /
TEST_CASE("quantized operators keep their quantization, and what passes between them is small") {
  OnnxBuilder b;
  b.input("x", {"1", "4", "8", "8"});
  add_scales(b);
  b.weight("w", {4, 4, 1, 1}, onnx::TensorProto::UINT8, 1);
  b.node("QuantizeLinear", {"x", "scale", "zero"}, {"q0"});
  b.node("DequantizeLinear", {"q0", "scale", "zero"}, {"d0"});
  b.node("DequantizeLinear", {"w", "scale", "zero"}, {"dw"});
  b.node("Conv", {"d0", "dw"}, {"c"});
  b.node("Relu", {"c"}, {"r"});
  b.node("QuantizeLinear", {"r", "scale", "zero"}, {"q1"});
  b.node("DequantizeLinear", {"q1", "scale", "zero"}, {"d1"});
  auto& pool = b.node("MaxPool", {"d1"}, {"p"});
  OnnxBuilder::set(pool, "kernel_shape", std::vector<int64_t>{2, 2});
  b.node("QuantizeLinear", {"p", "scale", "zero"}, {"q2"});
  b.node("DequantizeLinear", {"q2", "scale", "zero"}, {"y"});
  CHECK(groups(nodes_of(b)) == ".aaaaabbb.");
  CHECK(groups(nodes_of(b, true)) == "..........");
}

//  x - Conv - BatchNormalization - Relu - Conv - Add (of x2) - Relu
TEST_CASE("a convolution keeps its normalization and activation, not what another node computes") {
  OnnxBuilder b;
  b.input("x", {"1", "4", "8", "8"});
  b.weight("w", {4, 4, 1, 1});
  b.weight("k", {4});
  b.node("Conv", {"x", "w"}, {"c"});
  b.node("BatchNormalization", {"c", "k", "k", "k", "k"}, {"n"});
  b.node("Relu", {"n"}, {"r"});
  b.node("Conv", {"r", "w"}, {"d"});
  b.node("Add", {"d", "r"}, {"s"});
  b.node("Relu", {"s"}, {"y"});
  CHECK(groups(nodes_of(b)) == "aaa...");
  CHECK(fused(nodes_of(b)) == ".ff...");  // the addition may be parted from its convolution
  CHECK(fused(nodes_of(b, true)) == "......");
}

//  q0 - DQ - Conv - Add - Relu - Q - y
//  q1 - DQ --------/
TEST_CASE(
    "an addition that stays with its quantization, and not with its convolution, takes time") {
  OnnxBuilder b;
  b.input("q0", {"1", "4", "8", "8"}, onnx::TensorProto::UINT8);
  b.input("q1", {"1", "4", "8", "8"}, onnx::TensorProto::UINT8);
  add_scales(b);
  b.weight("w", {4, 4, 1, 1});
  b.node("DequantizeLinear", {"q0", "scale", "zero"}, {"d0"});
  b.node("DequantizeLinear", {"q1", "scale", "zero"}, {"d1"});
  b.node("Conv", {"d0", "w"}, {"c"});
  b.node("Add", {"c", "d1"}, {"s"});
  b.node("Relu", {"s"}, {"r"});
  b.node("QuantizeLinear", {"r", "scale", "zero"}, {"y"});
  CHECK(groups(nodes_of(b)) == "ababbb");
  CHECK(fused(nodes_of(b)) == "......");
}

//  x - Conv - Add (of Transpose(w)) - MatMul (of Mul(w, w)) - Identity - y
TEST_CASE("what vanishes is fused, whatever may be torn, and takes no reader along") {
  OnnxBuilder b;
  b.input("x", {"1", "4", "8", "8"});
  b.weight("k", {4, 4, 1, 1});
  b.weight("w", {8, 8});
  b.node("Conv", {"x", "k"}, {"c"});
  b.node("Transpose", {"w"}, {"t"});
  b.node("Add", {"c", "t"}, {"s"});
  b.node("Mul", {"w", "w"}, {"m"});
  b.node("MatMul", {"s", "m"}, {"p"});
  b.node("Identity", {"p"}, {"y"});
  CHECK(fused(nodes_of(b)) == ".f.f.f");
  CHECK(fused(nodes_of(b, true)) == ".f.f.f");
}

//  x - ReduceMean - Sub - Pow - ReduceMean - Add - Sqrt - Div - Mul - Add - Div - Erf - Add - Mul -
//  Mul
TEST_CASE("normalization and activation that are written out stay whole, each by itself") {
  OnnxBuilder b;
  b.input("x", {"2", "8"});
  b.weight("k", {8});
  b.weight("one", {1});
  b.node("ReduceMean", {"x"}, {"mean"});
  b.node("Sub", {"x", "mean"}, {"centered"});
  b.node("Pow", {"centered", "one"}, {"squares"});
  b.node("ReduceMean", {"squares"}, {"variance"});
  b.node("Add", {"variance", "one"}, {"a"});
  b.node("Sqrt", {"a"}, {"deviation"});
  b.node("Div", {"centered", "deviation"}, {"normal"});
  b.node("Mul", {"normal", "k"}, {"scaled"});
  b.node("Add", {"scaled", "k"}, {"n"});
  b.node("Div", {"n", "one"}, {"d"});
  b.node("Erf", {"d"}, {"e"});
  b.node("Add", {"e", "one"}, {"f"});
  b.node("Mul", {"n", "f"}, {"g"});
  b.node("Mul", {"g", "one"}, {"y"});
  CHECK(groups(nodes_of(b)) == "aaaaaaaaabbbbb");
}

TEST_CASE("attention that is written out stays whole, and weights stay with their only reader") {
  OnnxBuilder b;
  b.input("q", {"2", "8"});
  b.input("t", {"2", "8"});
  b.weight("w", {8, 8}, onnx::TensorProto::FLOAT16, 2);
  b.weight("one", {1});
  b.node("Transpose", {"t"}, {"k"});
  b.node("MatMul", {"q", "k"}, {"s"});
  b.node("Div", {"s", "one"}, {"d"});
  b.node("Softmax", {"d"}, {"p"});
  b.node("MatMul", {"p", "t"}, {"v"});
  OnnxBuilder::set(b.node("Cast", {"w"}, {"c"}), "to", int64_t{onnx::TensorProto::FLOAT});
  b.node("MatMul", {"v", "c"}, {"y"});
  CHECK(groups(nodes_of(b)) == ".aaaabb");
}

TEST_CASE("patterns may come from elsewhere, and chains end at nodes that others read") {
  OnnxBuilder b;
  b.input("x", {"4"});
  b.node("Exp", {"x"}, {"e"});
  b.node("Neg", {"e"}, {"n"});
  b.node("Exp", {"n"}, {"f"});
  b.node("Neg", {"f"}, {"m"});
  b.node("Abs", {"f"}, {"y"});
  const std::vector<WholePattern> patterns = {{"growth", {"Exp", "Neg"}, "", false}};
  ImportOptions options;
  options.patterns = patterns;
  const std::string bytes = b.bytes();
  CHECK(groups(import_onnx(as_bytes(bytes), "model", options)->spec.nodes) == "aa...");
}
