// Shapes of operators that are met less often, as ONNX and ONNX Runtime describe them.
#include <doctest/doctest.h>

#include "tests/unit/onnx_fixture.h"

using namespace placeto;
using namespace placeto::test;

TEST_CASE("a short transform has as many frames as fit, and half of their frequencies") {
  const auto transformed = [](const char* window, const std::vector<int64_t>& frame, int64_t half) {
    OnnxBuilder b;
    b.input("x", {"2", "100", "1"});
    b.integers("step", {10});
    b.weight("w", {16});
    if (!frame.empty()) b.integers("frame", frame);
    auto& node = b.node("STFT", {"x", "step", window, frame.empty() ? "" : "frame"}, {"y"});
    OnnxBuilder::set(node, "onesided", half);
    return outputs_of_last(b)[0] / 4;
  };
  CHECK(transformed("w", {16}, 1) == 2 * 9 * 9 * 2);
  CHECK(transformed("w", {}, 1) == 2 * 9 * 9 * 2);
  CHECK(transformed("", {16}, 0) == 2 * 9 * 16 * 2);
}

TEST_CASE("normalized and scaled tensors have the shape that they had") {
  OnnxBuilder b(13);
  b.input("x", {"2", "3", "4", "4"});
  b.node("MeanVarianceNormalization", {"x"}, {"m"});
  CHECK(outputs_of_last(b) == std::vector<uint64_t>{2 * 3 * 4 * 4 * 4});
  b.input("n", {"4", "6"}, onnx::TensorProto::INT64);
  b.node("Scaler", {"n"}, {"s"}).set_domain("ai.onnx.ml");
  CHECK(outputs_of_last(b) == std::vector<uint64_t>{4 * 6 * 4});
}

TEST_CASE("before operator set 5 the shape of Reshape is an attribute") {
  const auto reshaped = [](const std::vector<int64_t>& shape) {
    OnnxBuilder b(4);
    b.input("x", {"4", "6"});
    OnnxBuilder::set(b.node("Reshape", {"x"}, {"y"}), "shape", shape);
    return dims_of(b, "y");
  };
  CHECK(reshaped({2, -1}) == Dims{2, 12});
  CHECK(reshaped({0, 3, -1}) == Dims{4, 3, 2});
  CHECK(reshaped({24}) == Dims{24});
}

TEST_CASE("before operator set 9 the tensors of Scan begin with batches") {
  OnnxBuilder b(8);
  b.input("s", {"5", "2"});
  b.input("x", {"5", "3", "2"});
  auto& node = b.node("Scan", {"", "s", "x"}, {"last", "all"});
  OnnxBuilder::set(node, "num_scan_inputs", int64_t{1});
  auto& body = OnnxBuilder::body(node, "body");
  for (const char* name : {"a", "b"}) OnnxBuilder::set_type(*body.add_input(), name, {"2"});
  OnnxBuilder::add_node(body, "Add", {"a", "b"}, {"c"});
  OnnxBuilder::add_node(body, "Identity", {"c"}, {"d"});
  for (const char* name : {"c", "d"}) body.add_output()->set_name(name);
  CHECK(outputs_of_last(b) == std::vector<uint64_t>{5 * 2 * 4, 5 * 3 * 2 * 4});
  CHECK(last_node(b).flops == 5 * 3 * 2);
}

TEST_CASE("products of ONNX Runtime say in their own ways what they multiply") {
  const auto batched = [](bool transposed, const Axes& axes) {
    OnnxBuilder b;
    b.input("a", axes);
    b.input("b", {"2", "16", "5"});
    auto& node = b.node("FusedMatMul", {"a", "b"}, {"y"});
    node.set_domain(kMicrosoft);
    OnnxBuilder::set(node, "transBatchA", int64_t{1});
    OnnxBuilder::set(node, "transA", int64_t{transposed});
    CHECK(last_node(b).flops == 2 * 2 * 7 * 16 * 5);
    return outputs_of_last(b);
  };
  CHECK(batched(false, {"7", "2", "16"}) == std::vector<uint64_t>{2 * 7 * 5 * 4});
  CHECK(batched(true, {"16", "2", "7"}) == std::vector<uint64_t>{2 * 7 * 5 * 4});
  OnnxBuilder b;
  b.input("x", {"2", "5", "64"});
  b.weight("packed", {900}, onnx::TensorProto::UINT8, 1);
  b.integers("shape", {64, 24});
  b.node("MatMulFpQ4", {"x", "packed", "shape"}, {"y"}).set_domain(kMicrosoft);
  CHECK(outputs_of_last(b) == std::vector<uint64_t>{2 * 5 * 24 * 4});
  CHECK(last_node(b).flops == 2 * 2 * 5 * 64 * 24);
  constexpr int kFloat8 = 17;
  b.input("m", {"8", "16"}, kFloat8);
  b.weight("w", {15, 16}, kFloat8, 1);
  auto& node = b.node("GemmFloat8", {"m", "w"}, {"g"});
  node.set_domain(kMicrosoft);
  OnnxBuilder::set(node, "transB", int64_t{1});
  OnnxBuilder::set(node, "dtype", int64_t{onnx::TensorProto::FLOAT16});
  CHECK(outputs_of_last(b) == std::vector<uint64_t>{8 * 15 * 2});
  CHECK(last_node(b).flops == 2 * 8 * 15 * 16);
}

TEST_CASE("a transposed convolution may be given its padding as an input") {
  OnnxBuilder b;
  b.input("x", {"1", "2", "5", "6"});
  b.weight("w", {2, 4, 3, 3});
  b.integers("pads", {1, 0, 1, 2});
  b.node("ConvTransposeWithDynamicPads", {"x", "w", "pads"}, {"y"}).set_domain(kMicrosoft);
  CHECK(outputs_of_last(b) == std::vector<uint64_t>{4 * 5 * 6 * 4});
  CHECK(last_node(b).flops == 2 * (2 * 5 * 6) * 4 * 9);
}

TEST_CASE("a list of known tensors is as long joined as all of them") {
  const auto joined = [](bool is_new) {
    OnnxBuilder b;
    b.input("x", {"4", "6"});
    b.node("SequenceConstruct", {"x", "x", "x"}, {"list"});
    auto& node = b.node("ConcatFromSequence", {"list"}, {"y"});
    OnnxBuilder::set(node, "axis", int64_t{0});
    OnnxBuilder::set(node, "new_axis", int64_t{is_new});
    return dims_of(b, "y");
  };
  CHECK(joined(false) == Dims{12, 6});
  CHECK(joined(true) == Dims{3, 4, 6});
}

TEST_CASE("branches of unlike shapes agree on some axes, and the others are named") {
  OnnxBuilder b;
  b.input("c", {}, onnx::TensorProto::BOOL);
  b.input("x", {"2", "64"});
  auto& node = b.node("If", {"c"}, {"y"});
  auto& then_branch = OnnxBuilder::body(node, "then_branch");
  OnnxBuilder::add_node(then_branch, "Relu", {"x"}, {"t"});
  then_branch.add_output()->set_name("t");
  auto& else_branch = OnnxBuilder::body(node, "else_branch");
  OnnxBuilder::set(OnnxBuilder::add_node(else_branch, "Concat", {"x", "x"}, {"e"}), "axis",
                   int64_t{0});
  else_branch.add_output()->set_name("e");
  b.node("Relu", {"y"}, {"z"});
  CHECK(dims_of(b, "y") == Dims{kUnknownDim, 64});
  const auto unknown = imported(b).report.unknown;
  REQUIRE(unknown.size() == 2);
  CHECK(unknown[0].problem == "its branches make its output 'y' 2x64 or 4x64");
  CHECK(unknown[1].problem ==
        "the shape along axis 0 of its output 'z' depends on data, or does not follow from its "
        "inputs");
}
