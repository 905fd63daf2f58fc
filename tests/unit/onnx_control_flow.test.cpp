// Nodes that have graphs of their own: branches and loops.
#include <doctest/doctest.h>

#include "tests/support/onnx_models.h"
#include "tests/support/text.h"
#include "tests/support/thread_time.h"
#include "tests/unit/onnx_fixture.h"
#include "tools/onnx/analysis.h"

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

namespace {

// A Loop over states of one row, two columns each, and what its body makes of them. The nodes of
// the body, which read a, b, ... and make next_a, next_b, ..., are still to be added.
onnx::GraphProto& loop_of(OnnxBuilder& b, const std::string& states) {
  std::vector<std::string> inputs = {"trips", ""}, outputs;
  for (const char state : states) {
    inputs.push_back("x");
    outputs.push_back(std::string("last_") + state);
  }
  b.input("x", {"1", "2"});
  b.integers("trips", {3});
  auto& body = OnnxBuilder::body(b.node("Loop", inputs, outputs, "loop"), "body");
  for (const char* name : {"i", "c"}) body.add_input()->set_name(name);
  body.add_output()->set_name("c");
  for (const char state : states) {
    body.add_input()->set_name(std::string(1, state));
    body.add_output()->set_name(std::string("next_") + state);
  }
  return body;
}

void concat(onnx::GraphProto& graph, const char* a, const char* b, const char* to) {
  OnnxBuilder::set(OnnxBuilder::add_node(graph, "Concat", {a, b}, {to}), "axis", int64_t{0});
}

}  // namespace

TEST_CASE("what a loop carries has the lengths that hold in each of its iterations") {
  OnnxBuilder b;
  auto& body = loop_of(b, "abc");
  concat(body, "a", "x", "next_a");                            // a row more each time
  OnnxBuilder::add_node(body, "Identity", {"a"}, {"next_b"});  // the same, an iteration later
  OnnxBuilder::add_node(body, "Relu", {"c"}, {"next_c"});      // always one
  CHECK(dims_of(b, "last_a") == Dims{kUnknownDim, 2});
  CHECK(dims_of(b, "last_b") == Dims{kUnknownDim, 2});
  CHECK(dims_of(b, "last_c") == Dims{1, 2});
}

TEST_CASE("an unknown length goes through as many states of a loop as there are") {
  OnnxBuilder b;
  auto& body = loop_of(b, "abcdefgh");
  concat(body, "a", "x", "next_a");
  for (const char* pair : {"ab", "bc", "cd", "de", "ef", "fg", "gh"}) {
    OnnxBuilder::add_node(body, "Relu", {std::string(1, pair[0])},
                          {std::string("next_") + pair[1]});
  }
  const auto last = dims_of(b, "last_h");
  CHECK((!last || (*last)[0] == kUnknownDim));
}

TEST_CASE("a loop works as in its first iteration, however its states grow") {
  OnnxBuilder b;
  b.weight("w", {2, 8});
  auto& body = loop_of(b, "a");
  OnnxBuilder::add_node(body, "MatMul", {"a", "w"}, {"m"});
  concat(body, "a", "x", "next_a");
  body.add_output()->set_name("m");
  b.graph().mutable_node(0)->add_output("rows");
  CHECK(node(imported(b), "loop").flops == 3u * 2 * 1 * 2 * 8);
}

TEST_CASE("a branch that depends on what a loop has changed is not decided") {
  OnnxBuilder b;
  auto& body = loop_of(b, "a");
  concat(body, "a", "x", "next_a");
  b.node("Shape", {"last_a"}, {"shape"});
  b.integers("zero", {0});
  b.integers("one", {1});
  b.node("Gather", {"shape", "zero"}, {"rows"});
  b.node("Equal", {"rows", "one"}, {"is_one"});
  auto& choice = b.node("If", {"is_one"}, {"y"}, "choice");
  for (const char* branch : {"then_branch", "else_branch"}) {
    auto& graph = OnnxBuilder::body(choice, branch);
    OnnxBuilder::add_node(graph, branch[0] == 't' ? "Relu" : "Neg", {"x"}, {"r"});
    graph.add_output()->set_name("r");
  }
  CHECK(node(imported(b), "choice").op == "If");
}

TEST_CASE("a list that a loop fills has elements of the type that goes in") {
  OnnxBuilder b;
  b.node("SequenceEmpty", {}, {"empty"});
  auto& body = loop_of(b, "a");
  b.graph().mutable_node(1)->set_input(2, "empty");
  OnnxBuilder::add_node(body, "SequenceInsert", {"a", "x"}, {"next_a"});
  const Result<Analysis> analysis = analyze(b.model());
  REQUIRE(analysis.ok());
  const onnx::TypeProto& type = analysis->scope.find("last_a")->type;
  REQUIRE(type.has_sequence_type());
  CHECK(type.sequence_type().elem_type().tensor_type().elem_type() == onnx::TensorProto::FLOAT);
}

//   x, x - list - SequenceMap(element @ w, w) - y
TEST_CASE("a SequenceMap makes lists of what its body makes of an element") {
  OnnxBuilder b;
  b.input("x", {"4", "2"});
  b.weight("w", {2, 8});
  b.node("SequenceConstruct", {"x", "x"}, {"list"}, "list");
  auto& map = b.node("SequenceMap", {"list", "w"}, {"y", "weights"}, "map");
  auto& body = OnnxBuilder::body(map, "body");
  for (const char* name : {"element", "v"}) body.add_input()->set_name(name);
  OnnxBuilder::add_node(body, "MatMul", {"element", "v"}, {"product"});
  OnnxBuilder::add_node(body, "Cast", {"v"}, {"cast"});
  OnnxBuilder::set(*body.mutable_node(1), "to", int64_t{onnx::TensorProto::FLOAT16});
  for (const char* name : {"product", "cast"}) body.add_output()->set_name(name);
  const Result<Analysis> analysis = analyze(b.model());
  REQUIRE_MESSAGE(analysis.ok(), analysis.status().message());
  const auto element = [&](const char* name) {
    const onnx::TypeProto& type = analysis->scope.find(name)->type;
    REQUIRE(type.has_sequence_type());
    return Value{type.sequence_type().elem_type(), nullptr};
  };
  CHECK(element("y").dims() == Dims{4, 8});
  CHECK(element("y").element_type() == onnx::TensorProto::FLOAT);
  CHECK(element("weights").dims() == Dims{2, 8});
  CHECK(element("weights").element_type() == onnx::TensorProto::FLOAT16);
  CHECK(node(imported(b), "map").flops >= 2 * 4 * 2 * 8);  // of one element, at least
}

// Loops inside each other, each visited seven times as its states, of unlike shapes, move on by one
// in every iteration; the innermost of them has so much more than nodes.
struct LoopNest {
  static constexpr int kDepth = 6, kStates = 7;
  OnnxBuilder b;
  onnx::GraphProto* innermost = nullptr;

  LoopNest() {
    b.integers("trips", {5});
    for (int i = 0; i < kStates; ++i) b.input(first(i), {std::to_string(i + 1)});
    b.input("z", {"2", "2"});
    add_loop(b.graph(), 0);
  }

 private:
  static std::string first(int i) { return "x" + std::to_string(i); }

  void add_loop(onnx::GraphProto& graph, int depth) {
    std::vector<std::string> read = {"trips", ""}, made;
    for (int i = 0; i < kStates; ++i) {
      read.push_back(first(i));
      made.push_back("y" + std::to_string(depth) + "." + std::to_string(i));
    }
    auto& loop = OnnxBuilder::add_node(graph, "Loop", read, made, "loop");
    auto& body = OnnxBuilder::body(loop, "body");
    std::vector<std::string> states = {"i", "c"};
    for (int i = 0; i < kStates; ++i) {
      states.push_back("s" + std::to_string(depth) + "." + std::to_string(i));
    }
    for (const std::string& name : states) body.add_input()->set_name(name);
    body.add_output()->set_name("c");
    for (int i = 1; i < kStates; ++i) {
      body.add_output()->set_name(states[2 + static_cast<size_t>(i)]);
    }
    body.add_output()->set_name("z");
    innermost = &body;
    if (depth + 1 < kDepth) add_loop(body, depth + 1);
  }
};

TEST_CASE("loops inside each other may not go through more than a model has, whatever that is") {
  CHECK(import(LoopNest().b).ok());
  const auto refused = [](const LoopNest& nest) {
    const double begin = thread_ms();
    const std::string message = refusal(nest.b);
    CHECK_MESSAGE(contains(message, "nodes with the bodies of its functions and loops"), message);
    CHECK(thread_ms() - begin < 20'000);  // once a minute and more
  };
  LoopNest weights, names, outputs, letters, branch;
  auto& node = OnnxBuilder::add_node(*names.innermost, "Own", {}, {"q"});
  auto& choice = OnnxBuilder::add_node(*branch.innermost, "If", {"c"}, {"q"});
  for (const char* name : {"then_branch", "else_branch"}) OnnxBuilder::body(choice, name);
  auto& body = *choice.mutable_attribute(0)->mutable_g();
  for (int i = 0; i < 5'000; ++i) {
    weights.innermost->add_initializer();
    node.add_input();
    outputs.innermost->add_output();
    OnnxBuilder::add_node(body, "Neg", {"z"}, {});
  }
  letters.innermost->mutable_input(0)->set_name(std::string(1'000'000, 'i'));
  for (const LoopNest* nest : {&weights, &names, &outputs, &letters, &branch}) refused(*nest);
}
