// What is known of small tensors before a model runs is what an engine computes: in their own type.
#include <doctest/doctest.h>

#include <cmath>

#include "tests/support/onnx_models.h"
#include "tests/unit/onnx_fixture.h"
#include "tools/onnx/fold.h"

using namespace placeto;
using namespace placeto::test;

namespace {

using onnx::NodeProto;
using onnx::TensorProto;

Value reals(std::vector<double> numbers, int32_t type = TensorProto::FLOAT) {
  Value value;
  const auto size = static_cast<int64_t>(numbers.size());
  value.set_constant({type, {size}, {}, std::move(numbers)});
  return value;
}
Value whole(std::vector<int64_t> numbers, int32_t type = TensorProto::INT64) {
  Value value;
  const auto size = static_cast<int64_t>(numbers.size());
  value.set_constant({type, {size}, std::move(numbers), {}});
  return value;
}

std::vector<Constant> evaluated(
    const char* op, const std::vector<Value>& inputs,
    const std::vector<std::pair<const char*, int64_t>>& attributes = {}) {
  NodeProto node;
  node.set_op_type(op);
  node.add_output("y");
  for (const auto& [name, value] : attributes) OnnxBuilder::set(node, name, value);
  std::vector<const Value*> pointers;
  for (const Value& input : inputs) pointers.push_back(&input);
  return fold(node, pointers);
}

Constant folded(const char* op, const std::vector<Value>& inputs,
                const std::vector<std::pair<const char*, int64_t>>& attributes = {}) {
  const std::vector<Constant> all = evaluated(op, inputs, attributes);
  REQUIRE(all.size() == 1);
  return all[0];
}

float nearest(double x) {
  return static_cast<float>(x);
}

}  // namespace

TEST_CASE("single precision stays single precision, as a length times a scale needs it") {
  const Value scale = reals({nearest(0.7), nearest(0.7), nearest(0.1)});
  const Constant scaled = folded("Mul", {reals({10, 320, 10}), scale});
  Value lengths;
  lengths.set_constant(scaled);
  CHECK(folded("Floor", {lengths}).reals == std::vector<double>{7, 224, 1});
  CHECK(folded("Ceil", {lengths}).reals == std::vector<double>{7, 224, 1});
  CHECK(folded("ReduceProd", {reals({nearest(0.7), 10})}, {{"keepdims", 0}}).reals ==
        std::vector<double>{7});
  CHECK(folded("Cast", {whole({16'777'217})}, {{"to", TensorProto::FLOAT}}).reals ==
        std::vector<double>{16'777'216});
}

TEST_CASE("half precision has eleven bits, small numbers fewer, and an end") {
  const auto half = [](double x) {
    return folded("Cast", {reals({x}, TensorProto::DOUBLE)}, {{"to", TensorProto::FLOAT16}})
        .reals[0];
  };
  CHECK(half(2'049) == 2'048);
  CHECK(half(2'051) == 2'052);
  CHECK(half(-2'051) == -2'052);
  CHECK(half(65'519) == 65'504);
  CHECK(half(65'520) == INFINITY);
  CHECK(half(std::ldexp(1.4, -24)) == std::ldexp(1, -24));
  CHECK(half(std::ldexp(1, -26)) == 0);
}

TEST_CASE("whole numbers wrap around in their type") {
  CHECK(folded("Cast", {whole({300, -1})}, {{"to", TensorProto::UINT8}}).ints ==
        std::vector<int64_t>{44, 255});
  const Value large = whole({2'147'483'647}, TensorProto::INT32);
  CHECK(folded("Add", {large, whole({1}, TensorProto::INT32)}).ints ==
        std::vector<int64_t>{-2'147'483'648});
}

TEST_CASE("large whole numbers are compared to their last digit") {
  constexpr int64_t kLarge = int64_t{1} << 62;
  const Value a = whole({kLarge, kLarge + 1, kLarge}), b = whole({kLarge + 1, kLarge, kLarge});
  const std::pair<const char*, std::vector<int64_t>> expected[] = {{"Equal", {0, 0, 1}},
                                                                   {"Less", {1, 0, 0}},
                                                                   {"Greater", {0, 1, 0}},
                                                                   {"LessOrEqual", {1, 0, 1}},
                                                                   {"GreaterOrEqual", {0, 1, 1}}};
  for (const auto& [op, answers] : expected) CHECK(folded(op, {a, b}).ints == answers);
}

TEST_CASE("the largest and the least of what is no number is none, and of a list not known") {
  const Value a = reals({1, NAN, 1}), b = reals({NAN, 1, 2});
  const std::pair<const char*, double> expected[] = {{"Max", 2}, {"Min", 1}};
  for (const auto& [op, last] : expected) {
    const Constant got = folded(op, {a, b});
    CHECK(std::isnan(got.reals[0]));
    CHECK(std::isnan(got.reals[1]));
    CHECK(got.reals[2] == last);
    const std::string reduce = std::string("Reduce") + op;
    CHECK(evaluated(reduce.c_str(), {a}).empty());
    CHECK(evaluated(reduce.c_str(), {b}).empty());
    CHECK(folded(reduce.c_str(), {reals({1, 2})}).reals == std::vector<double>{last});
  }
}

TEST_CASE("a remainder has the sign of the divisor, or of the dividend where fmod says so") {
  const Value a = whole({-7, 7, -7}), b = whole({3, -3, -3});
  CHECK(folded("Mod", {a, b}).ints == std::vector<int64_t>{2, -2, -1});
  CHECK(folded("Mod", {a, b}, {{"fmod", 1}}).ints == std::vector<int64_t>{-1, 1, -1});
}

TEST_CASE("a reduction over no axes reduces all, or nothing where it says so") {
  CHECK(folded("ReduceSum", {whole({2, 3})}).ints == std::vector<int64_t>{5});
  CHECK(folded("ReduceSum", {whole({2, 3})}, {{"noop_with_empty_axes", 1}}).ints ==
        std::vector<int64_t>{2, 3});
}

TEST_CASE("Resize computes lengths in single precision") {
  OnnxBuilder b(19);
  b.input("x", {"1", "1", "10", "320"});
  auto* scales = b.graph().add_initializer();
  scales->set_name("scales");
  scales->set_data_type(TensorProto::FLOAT);
  scales->add_dims(4);
  for (const float scale : {1.f, 1.f, .7f, .7f}) scales->add_float_data(scale);
  b.node("Resize", {"x", "", "scales"}, {"y"});
  CHECK(imported(b).spec.nodes.back().outputs == std::vector<uint64_t>{7 * 224 * 4});
}

TEST_CASE("tensors of few bits are not taken for empty where their size overflows") {
  constexpr int32_t kInt4 = 22;
  constexpr int64_t kLong = int64_t{1} << 31;
  CHECK(tensor_bytes(kInt4, {3}) == 2);
  CHECK(tensor_bytes(kInt4, {kLong, kLong}) == uint64_t{1} << 61);
}
