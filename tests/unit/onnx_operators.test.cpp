// Which operators imported nodes are: domains, versions, types of their inputs.
#include <doctest/doctest.h>

#include <algorithm>

#include "tests/support/onnx_models.h"
#include "tools/onnx/import.h"

using namespace placeto;
using namespace placeto::test;

namespace {

std::vector<NodeSpec> operators_of(const OnnxBuilder& builder) {
  const std::string bytes = builder.bytes();
  auto result = import_onnx(as_bytes(bytes), "model", {});
  REQUIRE_MESSAGE(result.ok(), result.status().message());
  return result->spec.nodes;
}

const NodeSpec& operator_named(const std::vector<NodeSpec>& nodes, const std::string& name) {
  const auto found =
      std::find_if(nodes.begin(), nodes.end(), [&](const NodeSpec& n) { return n.name == name; });
  REQUIRE(found != nodes.end());
  return *found;
}

}  // namespace

TEST_CASE(
    "nodes have their operator's domain, the version of its set and the types of their inputs") {
  OnnxBuilder b(13);
  auto* own = b.model().add_opset_import();
  own->set_domain("com.microsoft");
  own->set_version(1);
  b.input("x", {"2", "4"}, onnx::TensorProto::FLOAT16);
  b.integers("from", {0});
  b.integers("steps", {1});
  b.weight("w", {4}, onnx::TensorProto::FLOAT16, 2);
  b.node("Slice", {"x", "from", "steps", "", "steps"}, {"s"}, "slice");
  b.node("Mystery", {"s"}, {"m"}, "mystery");
  b.node("Add", {"m", "w"}, {"a"}, "add");
  b.node("QuickGelu", {"s"}, {"g"}, "gelu").set_domain("com.microsoft");
  b.node("Own", {"g"}, {"y"}, "own").set_domain("nowhere");
  b.node("RandomNormal", {}, {"r"}, "random");
  const auto got = operators_of(b);
  using Types = std::vector<std::string>;
  CHECK(operator_named(got, "slice").opset == 13);
  CHECK(operator_named(got, "slice").input_types ==
        Types{"float16", "int64", "int64", "", "int64"});
  CHECK(operator_named(got, "add").input_types == Types{"", "float16"});
  CHECK(operator_named(got, "gelu").opset == 1);
  CHECK(operator_named(got, "gelu").domain == "com.microsoft");
  CHECK(operator_named(got, "slice").domain == "ai.onnx");
  CHECK(operator_named(got, "gelu").input_types == Types{"float16"});
  CHECK(operator_named(got, "own").opset == 0);  // of a domain that the model does not import
  CHECK(operator_named(got, "own").input_types == Types{"float16"});
  CHECK(operator_named(got, "random").opset == 13);
  CHECK(operator_named(got, "random").input_types.empty());
}

TEST_CASE("a node of more inputs than a graph may name the types of has none") {
  OnnxBuilder b;
  b.input("x", {"1"});
  b.node("Sum", std::vector<std::string>(4096, "x"), {"y"}, "most");
  b.node("Sum", std::vector<std::string>(4097, "x"), {"z"}, "more");
  const auto got = operators_of(b);
  CHECK(operator_named(got, "most").input_types.size() == 4096);
  CHECK(operator_named(got, "more").input_types.empty());
}
