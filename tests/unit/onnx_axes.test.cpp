// Numbers of axes and their lengths where operators cut, join, drop or add them.
#include <doctest/doctest.h>

#include "tests/unit/onnx_fixture.h"

using namespace placeto;
using namespace placeto::test;

TEST_CASE("what is reshaped to lengths that are computed has as many axes as there are lengths") {
  OnnxBuilder b;
  b.input("x", {"4", "6"});
  b.input("lengths", {"3"}, onnx::TensorProto::INT64);
  b.node("Reshape", {"x", "lengths"}, {"reshaped"});
  b.node("ConstantOfShape", {"lengths"}, {"filled"});
  for (const char* name : {"reshaped", "filled"}) {
    CAPTURE(std::string(name));
    CHECK(dims_of(b, name) == Dims(3, kUnknownDim));
  }
}

TEST_CASE("what is expanded has as many axes as there are lengths, and no fewer than it had") {
  OnnxBuilder b;
  b.input("x", {"4", "6"});
  b.input("one", {"1"}, onnx::TensorProto::INT64);
  b.input("three", {"3"}, onnx::TensorProto::INT64);
  b.input("any", {"n"}, onnx::TensorProto::INT64);
  b.node("Reshape", {"x", "any"}, {"reshaped"});  // of an unknown number of axes
  b.node("Expand", {"x", "one"}, {"no more"});
  b.node("Expand", {"x", "three"}, {"more"});
  b.node("Expand", {"reshaped", "one"}, {"as many as it had"});
  CHECK(dims_of(b, "no more") == Dims{4, 6});
  CHECK(dims_of(b, "more") == Dims{kUnknownDim, 4, 6});
  CHECK(dims_of(b, "as many as it had") == std::nullopt);
}

TEST_CASE("lengths that are computed leave as many axes, and the others as they are") {
  using onnx::TensorProto;
  OnnxBuilder b(20);
  b.input("x", {"2", "3", "4"});
  b.input("one", {"1"}, TensorProto::INT64);
  b.input("two", {"2"}, TensorProto::INT64);
  b.input("n", {}, TensorProto::INT64);
  b.integers("last", {-1});
  b.integers("step", {8});
  b.graph().mutable_initializer(1)->clear_dims();
  b.node("Slice", {"x", "one", "one", "last"}, {"Slice"});
  b.node("Slice", {"x", "two", "two"}, {"Slice first"});
  b.node("Slice", {"x", "two", "two", "two"}, {"Slice any"});
  b.node("Pad", {"x", "two", "", "last"}, {"Pad"});
  b.node("Pad", {"x", "two", "", "one"}, {"Pad any"});
  b.node("ReduceMax", {"x", "one"}, {"ReduceMax"});
  OnnxBuilder::set(b.node("ReduceMax", {"x", "two"}, {"one axis"}), "keepdims", int64_t{0});
  OnnxBuilder::set(b.node("Split", {"x", "two"}, {"Split", "rest"}), "axis", int64_t{1});
  OnnxBuilder::set(b.node("CenterCropPad", {"x", "one"}, {"CenterCropPad"}), "axes",
                   std::vector<int64_t>{0});
  b.node("Squeeze", {"x", "two"}, {"Squeeze"});
  b.node("Unsqueeze", {"x", "two"}, {"Unsqueeze"});
  b.node("Col2Im", {"x", "two", "two"}, {"Col2Im"});
  b.node("DFT", {"x", "n"}, {"DFT"});
  b.node("HannWindow", {"n"}, {"HannWindow"});
  b.node("STFT", {"x", "step", "", "n"}, {"STFT"});
  constexpr int64_t u = kUnknownDim;
  CHECK(dims_of(b, "Slice") == Dims{2, 3, u});
  CHECK(dims_of(b, "Slice first") == Dims{u, u, 4});
  CHECK(dims_of(b, "Slice any") == Dims{u, u, u});
  CHECK(dims_of(b, "Pad") == Dims{2, 3, u});
  CHECK(dims_of(b, "Pad any") == Dims{u, u, u});
  CHECK(dims_of(b, "ReduceMax") == Dims{u, u, u});
  CHECK(dims_of(b, "one axis") == Dims{u});
  CHECK(dims_of(b, "Split") == Dims{2, u, 4});
  CHECK(dims_of(b, "rest") == Dims{2, u, 4});
  CHECK(dims_of(b, "CenterCropPad") == Dims{u, 3, 4});
  CHECK(dims_of(b, "Squeeze") == Dims{u});
  CHECK(dims_of(b, "Unsqueeze") == Dims{u, u, u, u, u});
  CHECK(dims_of(b, "Col2Im") == Dims{u, u, u, u});
  CHECK(dims_of(b, "DFT") == Dims{u, u, u});
  CHECK(dims_of(b, "HannWindow") == Dims{u});
  CHECK(dims_of(b, "STFT") == Dims{2, u, u, 2});
}

TEST_CASE("OneHot adds an axis as long as its depth") {
  OnnxBuilder b;
  b.input("x", {"2", "10"}, onnx::TensorProto::INT64);
  b.integers("depth", {7});
  b.weight("values", {2});
  auto& node = b.node("OneHot", {"x", "depth", "values"}, {"y"});
  OnnxBuilder::set(node, "axis", int64_t{1});
  CHECK(outputs_of_last(b) == std::vector<uint64_t>{2 * 7 * 10 * 4});
}

TEST_CASE("Squeeze without axes drops every axis of length one, in every operator set") {
  for (const int opset : {9, 11, 13}) {
    OnnxBuilder b(opset);
    b.input("x", {"3", "1", "1", "4"});
    b.node("Squeeze", {"x"}, {"y"});
    CHECK(outputs_of_last(b) == std::vector<uint64_t>{3 * 4 * 4});
    CHECK(dims_of(b, "y") == Dims{3, 4});
  }
}

TEST_CASE("Slice counts from the end, with lists as attributes and as inputs") {
  OnnxBuilder old(9);
  old.input("x", {"5", "10"});
  auto& node = old.node("Slice", {"x"}, {"y"});
  OnnxBuilder::set(node, "starts", std::vector<int64_t>{0, -3});
  OnnxBuilder::set(node, "ends", std::vector<int64_t>{-1, 9'999});
  OnnxBuilder::set(node, "axes", std::vector<int64_t>{1, 0});
  CHECK(outputs_of_last(old) == std::vector<uint64_t>{3 * 9 * 4});
  OnnxBuilder endless(9);
  endless.input("x", {"9223372036854775807"});
  auto& part = endless.node("Slice", {"x"}, {"y"});
  OnnxBuilder::set(part, "starts", std::vector<int64_t>{-9'223'372'036'854'775'807});
  OnnxBuilder::set(part, "ends", std::vector<int64_t>{9'223'372'036'854'775'807});
  const std::string bytes = endless.bytes();
  (void)import_onnx(as_bytes(bytes), "model", {});  // refused or not, without an overflow
  OnnxBuilder b;
  b.input("x", {"5", "10"});
  b.integers("starts", {-1});
  b.integers("ends", {-100});
  b.integers("axes", {-1});
  b.integers("steps", {-2});
  b.node("Slice", {"x", "starts", "ends", "axes", "steps"}, {"y"});
  CHECK(outputs_of_last(b) == std::vector<uint64_t>{5 * 5 * 4});
  // As ONNX Runtime 1.30 takes them: backwards from the last, to the first or to nowhere.
  using Case = std::pair<int64_t, int64_t>;
  for (const auto& [end, length] :
       {Case{9'223'372'036'854'775'807, 5}, {2'147'483'647, 5}, {2'147'483'646, 0}, {100, 0}}) {
    b.graph().mutable_initializer(1)->set_int64_data(0, end);
    CHECK(dims_of(b, "y") == Dims{5, length});
  }
  // And what begins before the first begins there, where numpy takes nothing.
  b.graph().mutable_initializer(0)->set_int64_data(0, -11);
  b.graph().mutable_initializer(1)->set_int64_data(0, -9'223'372'036'854'775'807);
  CHECK(dims_of(b, "y") == Dims{5, 1});
}
