// What operators count.
#include <doctest/doctest.h>

#include "tests/unit/onnx_fixture.h"

using namespace placeto;
using namespace placeto::test;

namespace {

uint64_t counted(const char* op, const std::vector<Axes>& inputs, const char* equation = nullptr) {
  OnnxBuilder b;
  std::vector<std::string> names;
  for (const Axes& axes : inputs) {
    names.push_back("x" + std::to_string(names.size()));
    b.input(names.back(), axes);
  }
  auto& node = b.node(op, names, {"y"});
  if (equation != nullptr) {
    auto* attribute = node.add_attribute();
    attribute->set_name("equation");
    attribute->set_type(onnx::AttributeProto::STRING);
    attribute->set_s(equation);
  }
  return last_node(b).flops;
}

}  // namespace

TEST_CASE("Einsum multiplies its operands one after the other") {
  const std::vector<Axes> chain = {{"2", "3", "4"}, {"2", "4", "5"}, {"2", "5", "6"}};
  CHECK(counted("Einsum", chain, "bij,bjk,bkl->bil") == 2 * 2 * 3 * 4 * 5 + 2 * 2 * 3 * 5 * 6);
  CHECK(counted("Einsum", chain, "...ij,...jk,...kl->...il") ==
        2 * 2 * 3 * 4 * 5 + 2 * 2 * 3 * 5 * 6);
  CHECK(counted("Einsum", {{"3", "4"}, {"4", "5"}}, "ij,jk") == 2 * 3 * 4 * 5);
  CHECK(counted("Einsum", {{"3", "4"}}, "ij->ji") == 3 * 4);
}

TEST_CASE("lists are added up, and compared, one less often than they are long") {
  CHECK(counted("Sum", {{"3", "1"}, {"5"}, {"3", "5"}}) == 2 * 15);
  CHECK(counted("Max", {{"3", "5"}}) == 0);
  CHECK(counted("Min", {{"3", "5"}, {"5"}}) == 15);
  CHECK(counted("Mean", {{"3", "5"}, {"5"}}) == 2 * 15);
}

TEST_CASE("normalization in groups counts as others do") {
  OnnxBuilder b;
  b.input("x", {"1", "4", "4", "8"});
  for (const char* name : {"scale", "shift"}) b.weight(name, {8});
  b.node("GroupNorm", {"x", "scale", "shift"}, {"y"}).set_domain(kMicrosoft);
  CHECK(last_node(b).flops == 8 * 4 * 4 * 8);
  b.node("SkipGroupNorm", {"x", "scale", "shift", "x"}, {"z"}).set_domain(kMicrosoft);
  CHECK(last_node(b).flops == 9 * 4 * 4 * 8);
}
