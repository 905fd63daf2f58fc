// Functions that a model defines, and calls of them.
#include <doctest/doctest.h>

#include "tests/support/onnx_models.h"
#include "tests/support/text.h"
#include "tests/unit/onnx_fixture.h"

using namespace placeto;
using namespace placeto::test;

namespace {

// A function of the model, of the domain "local" and operator set 17, which reads a and makes b.
onnx::FunctionProto& local_function(OnnxBuilder& b, const std::string& name) {
  auto& function = *b.model().add_functions();
  function.set_name(name);
  function.set_domain("local");
  function.add_input("a");
  function.add_output("b");
  function.add_opset_import()->set_version(17);
  return function;
}

// Puts a field of that number into a message which has no name for it in old headers.
template <class Message>
void add_bytes(Message& message, int field, const std::string& bytes) {
  const std::string head = {static_cast<char>(field << 3 | 2), static_cast<char>(bytes.size())};
  REQUIRE(message.ParseFromString(message.SerializeAsString() + head + bytes));
}

void add_reference(onnx::NodeProto& node, const char* name, const char* to) {
  auto* attribute = node.add_attribute();
  attribute->set_name(name);
  attribute->set_ref_attr_name(to);
  attribute->set_type(onnx::AttributeProto::INT);
}

}  // namespace

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
  auto& function = local_function(b, "Flat");
  auto& flatten = *function.add_node();
  flatten.set_op_type("Flatten");
  flatten.add_input("a");
  flatten.add_output("b");
  add_reference(flatten, "axis", "from");
  onnx::AttributeProto preset;
  preset.set_name("from");
  preset.set_type(onnx::AttributeProto::INT);
  preset.set_i(2);
  add_bytes(function, 11, preset.SerializeAsString());  // attribute_proto
  b.node("Flat", {"x"}, {"y"}, "call").set_domain("local");
  auto& other = b.node("Flat", {"x"}, {"z"}, "other");
  other.set_domain("local");
  OnnxBuilder::set(other, "from", int64_t{0});
  CHECK(dims_of(b, "y") == Dims{6, 4});
  CHECK(dims_of(b, "z") == Dims{1, 24});
}

TEST_CASE("attributes of a call reach the graphs inside its function, too") {
  OnnxBuilder b;
  b.input("x", {"2", "3", "4"});
  b.input("c", {}, onnx::TensorProto::BOOL);
  auto& function = local_function(b, "Either");
  function.add_input("which");
  auto& choice = *function.add_node();
  choice.set_op_type("If");
  choice.add_input("which");
  choice.add_output("b");
  for (const char* branch : {"then_branch", "else_branch"}) {
    auto& graph = OnnxBuilder::body(choice, branch);
    add_reference(OnnxBuilder::add_node(graph, "Flatten", {"a"}, {"flat"}), "axis", "from");
    graph.add_output()->set_name("flat");
  }
  auto& call = b.node("Either", {"x", "c"}, {"y"}, "call");
  call.set_domain("local");
  OnnxBuilder::set(call, "from", int64_t{2});
  CHECK(dims_of(b, "y") == Dims{6, 4});
}

TEST_CASE("functions of one name are told apart by their overloads") {
  OnnxBuilder b;
  b.input("x", {"2", "3", "4"});
  for (const char* overload : {"", "second"}) {
    auto& function = local_function(b, "Flat");
    auto& flatten = *function.add_node();
    flatten.set_op_type("Flatten");
    flatten.add_input("a");
    flatten.add_output("b");
    OnnxBuilder::set(flatten, "axis", int64_t{*overload == 0 ? 1 : 2});
    if (*overload != 0) add_bytes(function, 13, overload);
  }
  b.node("Flat", {"x"}, {"y"}, "call").set_domain("local");
  auto& other = b.node("Flat", {"x"}, {"z"}, "other");
  other.set_domain("local");
  add_bytes(other, 8, "second");
  CHECK(dims_of(b, "y") == Dims{2, 12});
  CHECK(dims_of(b, "z") == Dims{6, 4});
}

TEST_CASE("weights in the body of a function are resident on each node that calls it") {
  OnnxBuilder b;
  b.input("x", {"8"});
  b.input("c", {}, onnx::TensorProto::BOOL);
  onnx::TensorProto weights;
  weights.set_data_type(onnx::TensorProto::FLOAT);
  weights.add_dims(8);
  for (int i = 0; i < 8; ++i) weights.add_float_data(1);
  const auto holds = [&](onnx::NodeProto& node, const char* name) {
    auto* attribute = node.add_attribute();
    attribute->set_name(name);
    attribute->set_type(onnx::AttributeProto::TENSOR);
    *attribute->mutable_t() = weights;
  };
  const auto add = [](onnx::FunctionProto & function, const char* op, const char* domain,
                      const std::vector<const char*>& inputs, const char* output) -> auto& {
    auto& node = *function.add_node();
    node.set_op_type(op);
    node.set_domain(domain);
    for (const char* input : inputs) node.add_input(input);
    node.add_output(output);
    return node;
  };
  auto& inner = local_function(b, "Inner");
  holds(add(inner, "Constant", "", {}, "w"), "value");
  add(inner, "Add", "", {"a", "w"}, "b");
  auto& outer = local_function(b, "Outer");
  add(outer, "Inner", "local", {"a"}, "p");
  auto& given = add(outer, "Constant", "", {}, "v").mutable_attribute()->Add()[0];
  given.set_name("value");
  given.set_ref_attr_name("weights");
  given.set_type(onnx::AttributeProto::TENSOR);
  add(outer, "Mul", "", {"p", "v"}, "b");
  b.node("Inner", {"x"}, {"y"}, "inner").set_domain("local");
  auto& call = b.node("Outer", {"y"}, {"z"}, "outer");
  call.set_domain("local");
  holds(call, "weights");
  auto& branch = b.node("If", {"c"}, {"out"}, "if");
  for (const char* name : {"then_branch", "else_branch"}) {
    auto& body = OnnxBuilder::body(branch, name);
    OnnxBuilder::add_node(body, name[0] == 't' ? "Inner" : "Neg", {"z"}, {"r"});
    if (name[0] == 't') body.mutable_node(0)->set_domain("local");
    body.add_output()->set_name("r");
  }
  const auto got = imported(b);
  CHECK(node(got, "inner").resident_bytes == 32);
  CHECK(node(got, "outer").resident_bytes == 2 * 32);  // of Inner, and what the call gives
  CHECK(node(got, "if").resident_bytes == 32);
  CHECK(got.report.parameter_bytes == 2 * 32);  // each once
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

// Two bytes of the file for each tensor without content, and a hundred in memory.
TEST_CASE("a function whose attributes have large values of their own may be called less often") {
  OnnxBuilder b;
  b.input("x", {"4"});
  auto* function = b.model().add_functions();
  function->set_name("F");
  function->set_domain("local");
  function->add_opset_import()->set_version(17);
  onnx::AttributeProto value;
  value.set_name("value");
  for (int i = 0; i < 50'000; ++i) value.add_tensors();
  const int kDefaults = 11;  // attribute_proto, which libonnx 1.12 does not know
  function->GetReflection()->MutableUnknownFields(function)->AddLengthDelimited(
      kDefaults, value.SerializeAsString());
  for (int i = 0; i < 100; ++i) {
    b.node("F", {"x"}, {}, "call" + std::to_string(i)).set_domain("local");
  }
  CHECK(contains(refusal(b), "more than 200100 nodes"));
}
