// Inputs that do not fit each other: refused by what was expected, also where the model says what
// shape the output has.
#include <doctest/doctest.h>

#include "tests/unit/onnx_fixture.h"

using namespace placeto;
using namespace placeto::test;

namespace {

struct Operand {
  std::string name;
  std::vector<int64_t> dims;
};
using Numbers = std::vector<std::pair<const char*, int64_t>>;

// One node, whose output is said to have two axes: its first input is one of the model, the others
// are parameters.
OnnxBuilder saying(const char* op, const std::vector<Operand>& operands,
                   const Numbers& attributes = {}) {
  OnnxBuilder b;
  std::vector<std::string> names;
  for (const Operand& operand : operands) {
    Axes axes;
    for (const int64_t dim : operand.dims) axes.push_back(std::to_string(dim));
    if (names.empty()) b.input(operand.name, axes);
    if (!names.empty()) b.weight(operand.name, operand.dims);
    names.push_back(operand.name);
  }
  auto& node = b.node(op, names, {"y"}, "it");
  for (const auto& [name, value] : attributes) OnnxBuilder::set(node, name, value);
  OnnxBuilder::set_type(*b.graph().add_output(), "y", {"5", "7"});
  return b;
}

std::string said(const char* op, const std::vector<Operand>& operands,
                 const Numbers& attributes = {}) {
  const std::string message = refusal(saying(op, operands, attributes));
  const std::string place = "graph.node[0] 'it': ";
  CHECK(message.starts_with(place));
  return message.substr(std::min(message.size(), place.size()));
}

void accepts(const char* op, const std::vector<Operand>& operands, const Numbers& attributes = {}) {
  const auto result = import(saying(op, operands, attributes));
  CHECK_MESSAGE(result.ok(), result.status().message());
}

}  // namespace

TEST_CASE("matrices that do not fit are refused by both shapes and what was expected") {
  CHECK(said("MatMul", {{"a", {5, 16}}, {"b", {15, 7}}}) ==
        "reads 'a' (5x16) and 'b' (15x7), expected 16 along axis 0 of 'b'");
  CHECK(said("MatMul", {{"a", {3, 5, 16}}, {"b", {2, 16, 7}}}) ==
        "reads 'a' (3x5x16) and 'b' (2x16x7), expected the same lengths, or 1, of the last axes");
  CHECK(said("Gemm", {{"a", {16, 5}}, {"b", {7, 15}}}, {{"transA", 1}, {"transB", 1}}) ==
        "reads 'a' (16x5) and 'b' (7x15), expected 16 along axis 1 of 'b'");
  CHECK(said("Gemm", {{"a", {5, 16}}, {"b", {16, 7}}, {"c", {5}}}) ==
        "reads 'c' (5) to be added to 5x7, expected 7 along axis 0 of 'c', or 1");
  accepts("MatMul", {{"a", {16}}, {"b", {4, 16, 7}}});
  accepts("MatMul", {{"a", {3, 1, 5, 16}}, {"b", {4, 16, 7}}});
  accepts("MatMul", {{"a", {4, 5, 16}}, {"b", {16}}});
  accepts("Gemm", {{"a", {5, 16}}, {"b", {16, 7}}, {"c", {5, 1}}});
  accepts("Gemm", {{"a", {5, 16}}, {"b", {16, 7}}, {"c", {}}});
}

TEST_CASE("shapes that are not broadcast to each other are refused") {
  CHECK(said("Add", {{"a", {3, 5}}, {"b", {3, 4}}}) ==
        "reads 'a' (3x5) and 'b' (3x4), expected the same lengths, or 1, of the last axes");
  CHECK(said("Sum", {{"a", {5, 1}}, {"b", {7}}, {"c", {6}}}) ==
        "reads 'b' (7) and 'c' (6), expected the same lengths, or 1, of the last axes");
  accepts("Add", {{"a", {3, 1, 5}}, {"b", {4, 1}}});
  accepts("Mul", {{"a", {0, 5}}, {"b", {1, 5}}});
  accepts("Max", {{"a", {1, 5}}, {"b", {4, 1}}, {"c", {4, 5}}});
}

TEST_CASE("filters and weights have the channels of what they are applied to") {
  CHECK(said("Conv", {{"x", {1, 3, 8, 8}}, {"w", {4, 2, 3, 3}}}) ==
        "reads 'x' (1x3x8x8) and 'w' (4x2x3x3), expected 2 along axis 1 of 'x'");
  CHECK(said("Conv", {{"x", {1, 3, 8, 8}}, {"w", {4, 1, 3, 3}}}, {{"group", 3}}) ==
        "reads 'x' (1x3x8x8) and 'w' (4x1x3x3), expected a multiple of its 3 groups along axis 0 "
        "of 'w'");
  CHECK(said("Conv", {{"x", {1, 2, 3}}, {"w", {4, 2, 4}}}) ==
        "reads 'x' (1x2x3) and 'w' (4x2x4), expected a window no larger than the image, padding "
        "included");
  CHECK(said("ConvTranspose", {{"x", {1, 3, 8, 8}}, {"w", {4, 2, 3, 3}}}) ==
        "reads 'x' (1x3x8x8) and 'w' (4x2x3x3), expected 4 along axis 1 of 'x'");
  CHECK(said("Conv", {{"x", {1, 2, 8, 8}}, {"w", {4, 2, 3}}}) ==
        "reads 'x' (1x2x8x8) and 'w' (4x2x3), expected as many axes");
  const Operand r = {"r", {1, 24, 6}};
  CHECK(said("LSTM", {{"x", {7, 3, 5}}, {"w", {1, 24, 4}}, r}, {{"hidden_size", 6}}) ==
        "reads 'x' (7x3x5) and 'w' (1x24x4), expected 5 along axis 2 of 'w'");
  CHECK(said("LSTM", {{"x", {7, 3, 5}}, {"w", {1, 24, 5}}, r}, {{"hidden_size", 8}}) ==
        "reads 'w' (1x24x5), expected 32 along axis 1 of 'w', as hidden_size is 8");
  accepts("Conv", {{"x", {1, 6, 8, 8}}, {"w", {4, 3, 3, 3}}}, {{"group", 2}});
  accepts("LSTM", {{"x", {7, 3, 5}}, {"w", {1, 24, 5}}, r}, {{"hidden_size", 6}});
}

TEST_CASE("what is joined has the same other axes, unless it is empty") {
  CHECK(said("Concat", {{"x", {2, 3}}, {"z", {2, 4}}}, {{"axis", 0}}) ==
        "reads 'x' (2x3) and 'z' (2x4), expected 3 along axis 1 of 'z'");
  accepts("Concat", {{"x", {2, 3}}, {"z", {2, 4}}}, {{"axis", 1}});
  accepts("Concat", {{"x", {2, 3}}, {"z", {0}}}, {{"axis", 0}});
}

TEST_CASE("a tensor keeps its elements in another shape") {
  const auto reshaped = [](const std::vector<int64_t>& shape) {
    OnnxBuilder b;
    b.input("x", {"2", "3"});
    b.integers("shape", shape);
    b.node("Reshape", {"x", "shape"}, {"y"}, "it");
    OnnxBuilder::set_type(*b.graph().add_output(), "y", {"4", "2"});
    return b;
  };
  CHECK(refusal(reshaped({4, 2})) ==
        "graph.node[0] 'it': reads 'x' (2x3) as 4x2, expected lengths whose product is 6");
  CHECK(refusal(reshaped({4, -1})) ==
        "graph.node[0] 'it': reads 'x' (2x3) as 4x?, expected a product of lengths that "
        "divides 6");
  for (const auto& shape : std::vector<std::vector<int64_t>>{{6}, {0, -1}, {1, 2, 3}, {-1, 2}}) {
    CHECK(import(reshaped(shape)).ok());
  }
}

TEST_CASE("what only a statement of the model contradicts is taken") {
  OnnxBuilder b;
  b.input("x", {"2", "3"});
  b.weight("w", {3, 4});
  b.node("Mystery", {"x"}, {"m"});
  b.node("MatMul", {"m", "w"}, {"y"});
  OnnxBuilder::set_type(*b.graph().add_value_info(), "m", {"2", "5"});
  OnnxBuilder::set_type(*b.graph().add_output(), "y", {"2", "4"});
  CHECK(import(b).ok());
}

TEST_CASE("a branch that may not be taken may be one that cannot run") {
  OnnxBuilder b;
  b.input("c", {}, onnx::TensorProto::BOOL);
  b.input("x", {"2", "3"});
  b.weight("w", {4, 5});
  auto& node = b.node("If", {"c"}, {"y"});
  auto& then_branch = OnnxBuilder::body(node, "then_branch");
  OnnxBuilder::add_node(then_branch, "MatMul", {"x", "w"}, {"t"});
  OnnxBuilder::set_type(*then_branch.add_output(), "t", {"2", "5"});
  auto& else_branch = OnnxBuilder::body(node, "else_branch");
  OnnxBuilder::add_node(else_branch, "Relu", {"x"}, {"e"});
  else_branch.add_output()->set_name("e");
  CHECK(import(b).ok());
}

TEST_CASE("a pool whose window is larger than its input has no shape, and says so") {
  const auto problem = [](const char* length) {
    OnnxBuilder b;
    b.input("x", {"1", "1", length});
    auto& node = b.node("MaxPool", {"x"}, {"y"});
    OnnxBuilder::set(node, "kernel_shape", std::vector<int64_t>{127});
    OnnxBuilder::set(node, "strides", std::vector<int64_t>{64});
    OnnxBuilder::set(node, "pads", std::vector<int64_t>{1, 2});
    const ImportedGraph result = imported(b);
    const auto& unknown = result.report.unknown;
    return unknown.empty() ? std::to_string(result.spec.nodes[0].outputs[0]) : unknown[0].problem;
  };
  CHECK(problem("123") == "its window is larger than its input, padding included");
  CHECK(problem("124") == "4");
}
