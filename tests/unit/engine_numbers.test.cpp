// Inputs of runs, how far outputs differ, and what is said of measurements.
#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "tests/support/folder.h"
#include "tools/costs/statistics.h"
#include "tools/engine/tensor.h"

namespace placeto {
namespace {

std::span<std::byte> memory_of(auto& values) {
  return std::as_writable_bytes(std::span(values));
}

TEST_CASE("a shape of more bytes than there can be has as many as there can be") {
  CHECK(shape_bytes(Element::kFloat, std::vector<int64_t>{2, 3}) == 24);
  CHECK(shape_bytes(Element::kDouble, std::vector<int64_t>{}) == 8);
  constexpr int64_t kLong = int64_t{1} << 31;
  CHECK(shape_bytes(Element::kFloat, std::vector<int64_t>{kLong, kLong}) == UINT64_MAX);
  CHECK(shape_bytes(Element::kFloat, std::vector<int64_t>{kLong, kLong, 0}) == 0);
}

TEST_CASE("inputs are the same numbers on every run: floats in [0, 1), whole numbers 1") {
  std::vector<float> a(100), b(100), c(100);
  fill_inputs(Element::kFloat, 7, memory_of(a));
  fill_inputs(Element::kFloat, 7, memory_of(b));
  fill_inputs(Element::kFloat, 8, memory_of(c));
  CHECK(a == b);
  CHECK(a != c);
  for (const float value : a) CHECK((value >= 0 && value < 1));
  std::vector<int64_t> indices(3);
  fill_inputs(Element::kInt64, 7, memory_of(indices));
  CHECK(indices == std::vector<int64_t>{1, 1, 1});
}

TEST_CASE("one number fills a tensor, unless its type cannot hold it") {
  std::vector<uint8_t> small(4);
  CHECK(fill_value(Element::kUint8, 200, memory_of(small)).ok());
  CHECK(small[3] == 200);
  CHECK(!fill_value(Element::kUint8, 1.5, memory_of(small)).ok());
  for (const double outside : {256.0, -1.0, -0.5, 1e300, HUGE_VAL, std::nan("")}) {
    CHECK(!fill_value(Element::kUint8, outside, memory_of(small)).ok());
  }
  std::vector<int64_t> large(1);
  CHECK(fill_value(Element::kInt64, -0x1p63, memory_of(large)).ok());
  CHECK(!fill_value(Element::kInt64, 0x1p63, memory_of(large)).ok());
  std::vector<uint16_t> halves(2);
  CHECK(fill_value(Element::kFloat16, 1.5, memory_of(halves)).ok());
  CHECK(halves[0] == 0x3e00);
  const std::pair<double, uint16_t> edges[] = {
      {-1.5, 0xbe00},     {65504, 0x7bff},     {-1e9, 0xfc00},        {1e9, 0x7c00},
      {HUGE_VAL, 0x7c00}, {-HUGE_VAL, 0xfc00}, {-0.0, 0x8000},        {0, 0},
      {1e-9, 0},          {-1e-9, 0x8000},     {std::nan(""), 0x7e00}};
  for (const auto& [number, bits] : edges) {
    CHECK(fill_value(Element::kFloat16, number, memory_of(halves)).ok());
    CHECK_MESSAGE(halves[1] == bits, number);
  }
}

// As NumPy writes it, of four numbers.
std::string npy(const std::string& shape, const float (&numbers)[4]) {
  std::string header = "{'descr': '<f4', 'fortran_order': False, 'shape': " + shape + ", }";
  header.resize(118, ' ');
  std::string file = std::string("\x93NUMPY\x01\x00", 8) + '\x76' + '\0' + header;
  return file.append(reinterpret_cast<const char*>(numbers), sizeof numbers);
}

TEST_CASE("a file of NumPy is read, and refused when it holds something else") {
  const test::Folder folder;
  folder.write("x.npy", npy("(4,)", {1.5f, -2, 0, 1}));
  const std::string path = folder.path("x.npy");
  std::vector<float> out(4);
  const TensorInfo wanted{"x", Element::kFloat, {4}, {""}};
  CHECK(read_tensor_file(path, wanted, memory_of(out)).ok());
  CHECK(out == std::vector<float>{1.5f, -2, 0, 1});
  std::vector<float> three(3);
  CHECK(!read_tensor_file(path, {"x", Element::kFloat, {3}, {""}}, memory_of(three)).ok());
  CHECK(!read_tensor_file(path, {"x", Element::kInt32, {4}, {""}}, memory_of(out)).ok());
}

TEST_CASE("a file of NumPy is refused when its shape is another, though the bytes are as many") {
  const test::Folder folder;
  const std::string path = folder.path("x.npy");
  const auto read = [&](const std::string& shape, const std::vector<int64_t>& wanted) {
    folder.write("x.npy", npy(shape, {1, 2, 3, 4}));
    std::vector<float> out(4);
    return read_tensor_file(path, {"x", Element::kFloat, wanted, {}}, memory_of(out));
  };
  CHECK(read("(1, 4)", {1, 4}).ok());
  CHECK(read("(1,4,)", {1, 4}).ok());
  CHECK(read("(4, 1)", {1, 4}).message() == path + ": has the shape (4,1), expected (1,4) for 'x'");
  for (const char* shape : {"(4,)", "()", "(-1, -4)", "(1, 18446744073709551620)", "(1, 4, 1)", "4",
                            "(1, 4", "(1, 4.0)"}) {
    CHECK_MESSAGE(read(shape, {1, 4}).code() == StatusCode::kBadInput, shape);
  }
}

TEST_CASE("deviation is relative for large numbers, absolute for small ones, and knows NaN") {
  std::vector<float> a{1, 100, 0}, b{1, 101, 0};
  CHECK(deviation(Element::kFloat, memory_of(a), memory_of(b)) == doctest::Approx(1.0 / 102));
  b = a;
  CHECK(deviation(Element::kFloat, memory_of(a), memory_of(b)) == 0);
  b[2] = std::numeric_limits<float>::quiet_NaN();
  CHECK(std::isinf(deviation(Element::kFloat, memory_of(a), memory_of(b))));
  a[2] = b[2];
  a[0] = 1.5f;
  CHECK(deviation(Element::kFloat, memory_of(a), memory_of(b)) == doctest::Approx(0.25));
}

TEST_CASE("narrow floats may deviate more") {
  CHECK(usual_deviation(Element::kFloat) < usual_deviation(Element::kFloat16));
  CHECK(usual_deviation(Element::kFloat16) < usual_deviation(Element::kBfloat16));
  CHECK(usual_deviation(Element::kInt8) == usual_deviation(Element::kFloat));
}

TEST_CASE("medians and percentiles") {
  CHECK(median({3, 1, 2}) == 2);
  CHECK(median({4, 1, 2, 3}) == 2.5);
  CHECK(median({}) == 0);
  CHECK(percentile({5, 1, 2, 3, 4}, 0.9) == 5);
  CHECK(percentile({5, 1, 2, 3, 4}, 0.2) == 1);
}

}  // namespace
}  // namespace placeto
