// Nodes that have graphs of their own: branches, loops, and functions of the model.
#include <doctest/doctest.h>

#include "tests/support/onnx_models.h"
#include "tests/support/text.h"
#include "tests/unit/onnx_fixture.h"

using namespace placeto;
using namespace placeto::test;

TEST_CASE("a node with subgraphs is one node with its captures, parameters and work") {
  const auto got = imported(control_flow_model());
  CHECK(got.report.unknown.empty());
  REQUIRE(got.spec.nodes.size() == 2);
  const NodeSpec loop = node(got, "loop");
  CHECK(loop.flops == 5u * 2 * 4 * 4 * 4);
  CHECK(loop.resident_bytes == 4 * 4 * 4 + 8);                // w and the trip count
  CHECK(loop.outputs == std::vector<uint64_t>{64, 5 * 64});   // the last state, and all of them
  CHECK(node(got, "if").flops == 16);                         // the larger branch
  CHECK(got.spec.edges == std::vector<EdgeSpec>{{0, 0, 1}});  // l, which the branches read
}

TEST_CASE("functions of the model are one node with the work of their body") {
  OnnxBuilder b;
  b.input("x", {"4", "4"});
  b.weight("w", {4, 4});
  auto* function = b.model().add_functions();
  function->set_name("Twice");
  function->set_domain("local");
  function->add_input("a");
  function->add_input("m");
  function->add_output("c");
  function->add_opset_import()->set_version(17);
  for (const auto& [in, out] : {std::pair{"a", "b"}, std::pair{"b", "c"}}) {
    auto* product = function->add_node();
    product->set_op_type("MatMul");
    product->add_input(in);
    product->add_input("m");
    product->add_output(out);
  }
  b.node("Twice", {"x", "w"}, {"y"}, "call").set_domain("local");
  const auto got = imported(b);
  CHECK(got.report.unknown.empty());
  CHECK(node(got, "call").flops == 2u * 2 * 64);
  CHECK(node(got, "call").outputs == std::vector<uint64_t>{64});
  CHECK(node(got, "call").launches == 2);
  CHECK(node(got, "call").opset == 0);  // an operator of no set
  CHECK(node(got, "call").domain.empty());
  CHECK(node(got, "call").input_types.empty());

  function->mutable_node(0)->set_op_type("Twice");  // calls itself
  function->mutable_node(0)->set_domain("local");
  CHECK(contains(refusal(b), "deep"));
}

TEST_CASE("a function that imports no operator set has its caller's") {
  OnnxBuilder b(11);  // in which axes are an attribute
  b.input("x", {"4", "5"});
  auto* function = b.model().add_functions();
  function->set_name("Wrap");
  function->set_domain("local");
  function->add_input("a");
  function->add_output("b");
  auto* wrap = function->add_node();
  wrap->set_op_type("Unsqueeze");
  OnnxBuilder::set(*wrap, "axes", std::vector<int64_t>{0});
  wrap->add_input("a");
  wrap->add_output("b");
  b.node("Wrap", {"x"}, {"y"}, "call").set_domain("local");
  const auto got = imported(b);
  CHECK(got.report.unknown.empty());
  CHECK(node(got, "call").outputs == std::vector<uint64_t>{80});
}

TEST_CASE("an attribute that a call leaves out has the value that its function gives it") {
  OnnxBuilder b;
  b.input("x", {"2", "3", "4"});
  auto* function = b.model().add_functions();
  function->set_name("Flat");
  function->set_domain("local");
  function->add_input("a");
  function->add_output("b");
  function->add_opset_import()->set_version(17);
  auto* flatten = function->add_node();
  flatten->set_op_type("Flatten");
  flatten->add_input("a");
  flatten->add_output("b");
  auto* axis = flatten->add_attribute();
  axis->set_name("axis");
  axis->set_ref_attr_name("from");
  axis->set_type(onnx::AttributeProto::INT);
  // attribute_proto, which old headers do not have: bytes of field 11.
  onnx::AttributeProto preset;
  preset.set_name("from");
  preset.set_type(onnx::AttributeProto::INT);
  preset.set_i(2);
  const std::string bytes = preset.SerializeAsString();
  const std::string field = {char{11 << 3 | 2}, static_cast<char>(bytes.size())};
  REQUIRE(function->ParseFromString(function->SerializeAsString() + field + bytes));
  b.node("Flat", {"x"}, {"y"}, "call").set_domain("local");
  auto& other = b.node("Flat", {"x"}, {"z"}, "other");
  other.set_domain("local");
  OnnxBuilder::set(other, "from", int64_t{0});
  b.weight("v", {4, 5});
  b.weight("w", {24, 5});
  b.node("MatMul", {"y", "v"}, {"p"}, "six rows");
  b.node("MatMul", {"z", "w"}, {"q"}, "one row");
  const auto got = imported(b);
  CHECK(got.report.unknown.empty());
  CHECK(node(got, "six rows").outputs == std::vector<uint64_t>{6 * 5 * 4});
  CHECK(node(got, "one row").outputs == std::vector<uint64_t>{1 * 5 * 4});
}

TEST_CASE("functions that call each other many times over are refused in a second or two") {
  OnnxBuilder b;
  b.input("x", {"4"});
  constexpr int kLevels = 20, kCalls = 10;  // 10^20 nodes
  for (int level = 0; level < kLevels; ++level) {
    auto* function = b.model().add_functions();
    function->set_name("F" + std::to_string(level));
    function->set_domain("local");
    function->add_input("v0");
    function->add_output("v" + std::to_string(kCalls));
    function->add_opset_import()->set_version(17);
    for (int call = 0; call < kCalls; ++call) {
      auto* node = function->add_node();
      const bool last = level + 1 == kLevels;
      node->set_op_type(last ? "Relu" : "F" + std::to_string(level + 1));
      if (!last) node->set_domain("local");
      node->add_input("v" + std::to_string(call));
      node->add_output("v" + std::to_string(call + 1));
    }
  }
  b.node("F0", {"x"}, {"y"}, "call").set_domain("local");
  CHECK(contains(refusal(b), "has more than 200201 nodes with the bodies of its functions"));
}

TEST_CASE("a function that is large, or has many inputs, may be called less often") {
  OnnxBuilder b;
  b.input("x", {"4"});
  auto* function = b.model().add_functions();
  function->set_name("F");
  function->set_domain("local");
  function->add_opset_import()->set_version(17);
  for (int i = 0; i < 100'000; ++i) function->add_input("");
  for (int i = 0; i < 100; ++i)
    b.node("F", {"x"}, {}, "call" + std::to_string(i)).set_domain("local");
  CHECK(contains(refusal(b), "more than 200100 nodes"));
  function->mutable_input()->DeleteSubrange(0, 99'999);
  CHECK(imported(b).spec.nodes.size() == 100);
}

TEST_CASE("a loop starts the operators of its body each time, and constants never") {
  OnnxBuilder b;
  b.input("x", {"4"});
  b.integers("trips", {5});
  auto& loop = b.node("Loop", {"trips", "", "x"}, {"y"}, "loop");
  auto& body = OnnxBuilder::body(loop, "body");
  for (const char* name : {"i", "c", "v"}) body.add_input()->set_name(name);
  auto& constant = OnnxBuilder::add_node(body, "Constant", {}, {"k"});
  auto* value = constant.add_attribute();
  value->set_name("value_float");
  value->set_type(onnx::AttributeProto::FLOAT);
  OnnxBuilder::add_node(body, "Add", {"v", "k"}, {"w"});
  OnnxBuilder::add_node(body, "Relu", {"w"}, {"z"});
  body.add_output()->set_name("c");
  body.add_output()->set_name("z");
  b.node("Relu", {"y"}, {"out"}, "after");
  const auto got = imported(b);
  CHECK(node(got, "loop").launches == 1 + 5 * 2);
  CHECK(node(got, "after").launches == 0);
}

// A Loop of one Relu, whose body ends with the condition of that name.
struct ConditionalLoop {
  OnnxBuilder b;
  onnx::GraphProto* body;
  ConditionalLoop(const std::string& first, const std::string& last) {
    b.input("x", {"4"});
    b.integers("trips", {100});
    auto& loop = b.node("Loop", {"trips", first, "x"}, {"y", "all"}, "loop");
    body = &OnnxBuilder::body(loop, "body");
    for (const char* name : {"i", "c", "v"}) body->add_input()->set_name(name);
    OnnxBuilder::add_node(*body, "Relu", {"v"}, {"z"});
    for (const std::string& name : {last, std::string("z"), std::string("z")}) {
      body->add_output()->set_name(name);
    }
  }
  void boolean(const char* name, bool content) {
    auto* tensor = b.graph().add_initializer();
    tensor->set_name(name);
    tensor->set_data_type(onnx::TensorProto::BOOL);
    tensor->add_int32_data(content);
  }
};

TEST_CASE("a loop whose condition stays true runs as often as it says, as PyTorch exports for") {
  for (const char* last : {"c", "same", "on"}) {
    CAPTURE(last);
    ConditionalLoop loop("on", last);
    loop.boolean("on", true);
    OnnxBuilder::add_node(*loop.body, "Identity", {"c"}, {"same"});
    const auto got = imported(loop.b);
    CHECK(node(got, "loop").launches == 1 + 100 * 2);
    CHECK(node(got, "loop").outputs == std::vector<uint64_t>{16, 1600});
  }
}

TEST_CASE("a loop whose condition may change counts one iteration") {
  ConditionalLoop computed("on", "less"), given("asked", "c"), ends("on", "off"), none("off", "on");
  OnnxBuilder::add_node(*computed.body, "Less", {"i", "trips"}, {"less"});
  given.b.input("asked", {}, onnx::TensorProto::BOOL);
  for (ConditionalLoop* loop : {&computed, &given, &ends, &none}) {
    loop->boolean("on", true);
    loop->boolean("off", false);
    const auto got = imported(loop->b);
    CHECK(node(got, "loop").launches == 1 + 1 + (loop == &computed));
    CHECK(node(got, "loop").outputs.at(1) < 1600);
  }
}

TEST_CASE("a loop may have as many nodes as its file holds") {
  OnnxBuilder b;
  b.input("x", {"4"});
  b.integers("trips", {1});
  auto& loop = b.node("Loop", {"trips", "", "x"}, {"y"}, "loop");
  auto& body = OnnxBuilder::body(loop, "body");
  for (const char* name : {"i", "c", "v0"}) body.add_input()->set_name(name);
  constexpr int kNodes = 210'000;
  for (int i = 0; i < kNodes; ++i) {
    OnnxBuilder::add_node(body, "Relu", {"v" + std::to_string(i)}, {"v" + std::to_string(i + 1)});
  }
  body.add_output()->set_name("c");
  body.add_output()->set_name("v" + std::to_string(kNodes));
  CHECK(imported(b).spec.nodes.size() == 1);
}
