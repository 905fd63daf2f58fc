// Branches that are decided become part of the graph; settings of inputs, symbols and shapes.
#include <doctest/doctest.h>

#include <algorithm>

#include "tests/support/onnx_models.h"
#include "tools/export/value_types.h"
#include "tools/onnx/import.h"
#include "tools/onnx/prepare.h"

using namespace placeto;
using namespace placeto::test;

namespace {

Result<ImportedGraph> import_with(const OnnxBuilder& builder, ModelSettings settings) {
  ImportOptions options;
  options.settings = std::move(settings);
  const std::string bytes = builder.bytes();
  return import_onnx(as_bytes(bytes), "model", options);
}

ImportedGraph inlined(const OnnxBuilder& builder, ModelSettings settings = {}) {
  auto result = import_with(builder, std::move(settings));
  REQUIRE_MESSAGE(result.ok(), result.status().message());
  return *std::move(result);
}

std::vector<std::string> names(const ImportedGraph& model) {
  std::vector<std::string> all;
  for (const NodeSpec& node : model.spec.nodes) all.push_back(node.name);
  return all;
}

ModelSettings with_value(const std::string& text) {
  ModelSettings settings;
  settings.inputs.push_back(*parse_input_setting(text));
  return settings;
}

void add_output(onnx::GraphProto& graph, const std::string& name) {
  graph.add_output()->set_name(name);
}

// A merged decoder: everything is in the branches of one If. Both have a tensor "h", which the main
// graph has as well; the weights are the branches' own.
//
//   x - relu - If(use_cache: relu @ w, x;  else: exp(relu @ w2), relu) - y, z - add - out
OnnxBuilder merged_model() {
  OnnxBuilder b;
  b.input("x", {"4", "4"});
  b.input("use_cache", {"1"}, onnx::TensorProto::BOOL);
  b.node("Relu", {"x"}, {"h"}, "relu");
  auto& branch = b.node("If", {"use_cache"}, {"y", "z"}, "merged");
  auto& with = OnnxBuilder::body(branch, "then_branch");
  OnnxBuilder::add_node(with, "MatMul", {"h", "w"}, {"p"}, "product");
  auto& without = OnnxBuilder::body(branch, "else_branch");
  OnnxBuilder::add_node(without, "MatMul", {"h", "w"}, {"p"}, "product");
  OnnxBuilder::add_node(without, "Exp", {"p"}, {"e"}, "relu");
  for (auto* graph : {&with, &without}) {
    auto* w = graph->add_initializer();
    w->set_name("w");
    w->set_data_type(onnx::TensorProto::FLOAT);
    w->add_dims(4), w->add_dims(4);
    w->set_raw_data(std::string(64, '\0'));
  }
  add_output(with, "p");
  add_output(with, "x");
  add_output(without, "e");
  add_output(without, "h");
  b.node("Add", {"y", "z"}, {"out"}, "add");
  b.output("out");
  return b;
}

}  // namespace

TEST_CASE("an If whose input is set becomes the branch that it takes") {
  const ImportedGraph without = inlined(merged_model(), with_value("use_cache=false"));
  CHECK(names(without) ==
        std::vector<std::string>{"relu", "product", "merged/relu", "merged/result_1", "add"});
  CHECK(without.spec.edges ==
        std::vector<EdgeSpec>{{0, 0, 1}, {1, 0, 2}, {0, 0, 3}, {2, 0, 4}, {3, 0, 4}});
  CHECK(without.spec.nodes[1].resident_bytes == 64);
  CHECK(without.spec.nodes[1].flops == 2u * 4 * 4 * 4);
  for (const NodeSpec& node : without.spec.nodes) {  // as in the graph around the branch
    CHECK(node.opset == 17);
    CHECK(node.input_types ==
          std::vector<std::string>(node.op == "MatMul" || node.op == "Add" ? 2 : 1, "float"));
  }
  CHECK(without.report.unknown.empty());
  REQUIRE(without.report.inlined.size() == 1);
  CHECK(without.report.inlined[0].node == "merged");
  CHECK(without.report.inlined[0].branch == "else");
  CHECK(without.report.undecided.empty());
  const ImportedGraph with = inlined(merged_model(), with_value("use_cache=1"));
  CHECK(names(with) == std::vector<std::string>{"relu", "product", "merged/result_1", "add"});
}

TEST_CASE("no input is proposed for an If that waits for others, too") {
  OnnxBuilder b = merged_model();
  b.input("limit", {});
  b.node("ReduceMax", {"x"}, {"most"}, "most");
  onnx::GraphProto& graph = b.graph();
  for (onnx::NodeProto& node : *graph.mutable_node()) {
    if (node.op_type() == "If") node.set_input(0, "beyond");
  }
  b.node("Greater", {"most", "limit"}, {"beyond"}, "greater");
  CHECK(inlined(b).report.undecided.empty());
}

TEST_CASE("an If that nothing decides stays one node") {
  const ImportedGraph got = inlined(merged_model());
  CHECK(names(got) == std::vector<std::string>{"relu", "merged", "add"});
  CHECK(got.report.inlined.empty());
  REQUIRE(got.report.undecided.size() == 1);
  CHECK(got.report.undecided[0].node == "merged");
  CHECK(got.report.undecided[0].inputs == std::vector<std::string>{"use_cache"});
  CHECK(got.report.undecided[0].nodes == 2);
}

//  If(rank of x == 2: If(constant: exp(x)) else relu(x))
TEST_CASE("conditions that follow from shapes and constants decide, one inside another, too") {
  OnnxBuilder b;
  b.input("x", {"2", "8"});
  b.integers("eight", {8});
  b.integers("last", {1});
  b.node("Shape", {"x"}, {"s"}, "shape");
  b.node("Gather", {"s", "last"}, {"n"}, "gather");
  b.node("Equal", {"n", "eight"}, {"c"}, "equal");
  auto& outer = b.node("If", {"c"}, {"y"}, "outer");
  auto& taken = OnnxBuilder::body(outer, "then_branch");
  auto* truth = taken.add_initializer();
  truth->set_name("truth");
  truth->set_data_type(onnx::TensorProto::BOOL);
  truth->add_int32_data(1);
  auto& inner = OnnxBuilder::add_node(taken, "If", {"truth"}, {"r"}, "inner");
  auto& exp = OnnxBuilder::body(inner, "then_branch");
  OnnxBuilder::add_node(exp, "Exp", {"x"}, {"e"});
  add_output(exp, "e");
  auto& nothing = OnnxBuilder::body(inner, "else_branch");
  OnnxBuilder::add_node(nothing, "Neg", {"x"}, {"e"});
  add_output(nothing, "e");
  add_output(taken, "r");
  auto& other = OnnxBuilder::body(outer, "else_branch");
  OnnxBuilder::add_node(other, "Relu", {"x"}, {"r"});
  add_output(other, "r");
  b.output("y");
  const ImportedGraph got = inlined(b);
  REQUIRE(got.spec.nodes.size() == 4);
  CHECK(got.spec.nodes[3].op == "Exp");
  CHECK(got.spec.nodes[3].outputs == std::vector<uint64_t>{2 * 8 * 4});
  CHECK(got.report.inlined.size() == 2);
  // A number for a free dimension decides nothing: the model is exported for all of them.
  OnnxBuilder free = b;
  auto* shape =
      free.graph().mutable_input(0)->mutable_type()->mutable_tensor_type()->mutable_shape();
  shape->mutable_dim(1)->set_dim_param("length");
  ModelSettings settings;
  settings.dims = {{"length", 8}};
  CHECK(names(inlined(free, settings)).back() == "outer");
}

// Sizes go by the default. Before IR version 4 callers may not replace it.
TEST_CASE("an input with a default decides nothing where callers may replace it") {
  OnnxBuilder b;
  b.input("x", {"2", "8"});
  b.input("c", {}, onnx::TensorProto::BOOL);
  b.input("lengths", {"2"}, onnx::TensorProto::INT64);
  auto* truth = b.graph().add_initializer();
  truth->set_name("c");
  truth->set_data_type(onnx::TensorProto::BOOL);
  truth->add_int32_data(1);
  b.integers("lengths", {4, 4});
  b.node("Reshape", {"x", "lengths"}, {"r"}, "reshape");
  auto& choice = b.node("If", {"c"}, {"y"}, "choice");
  for (const char* branch : {"then_branch", "else_branch"}) {
    auto& graph = OnnxBuilder::body(choice, branch);
    OnnxBuilder::add_node(graph, branch[0] == 't' ? "Relu" : "Neg", {"r"}, {"p"});
    add_output(graph, "p");
  }
  b.output("y");
  const ImportedGraph got = inlined(b);
  CHECK(names(got) == std::vector<std::string>{"reshape", "choice"});
  CHECK(got.spec.nodes[0].outputs == std::vector<uint64_t>{2 * 8 * 4});
  CHECK(inlined(b, with_value("c=false")).spec.nodes[1].op == "Neg");
  const Result<ValueTypes> types = infer_types(b.model());
  REQUIRE_MESSAGE(types.ok(), types.status().message());
  const auto& shape = types->at("r").tensor_type().shape();
  REQUIRE(shape.dim_size() == 2);
  CHECK_FALSE(shape.dim(0).has_dim_value());
  CHECK_FALSE(shape.dim(1).has_dim_value());
  b.model().set_ir_version(3);
  CHECK(inlined(b).spec.nodes[1].op == "Relu");
}
TEST_CASE("bodies inside a branch read by its new names what they do not define themselves") {
  OnnxBuilder b = merged_model();
  b.input("other", {}, onnx::TensorProto::BOOL);
  auto& with = *b.graph().mutable_node(1)->mutable_attribute(0)->mutable_g();
  OnnxBuilder::add_node(with, "Neg", {"x"}, {"h"}, std::string(5'000, 'n'));  // hides the model's
  auto& choice = OnnxBuilder::add_node(with, "If", {"other"}, {"r"}, "choice");
  auto& yes = OnnxBuilder::body(choice, "then_branch");
  OnnxBuilder::add_node(yes, "Relu", {"h"}, {"t"});
  add_output(yes, "t");
  auto& no = OnnxBuilder::body(choice, "else_branch");
  OnnxBuilder::add_node(no, "Exp", {"x"}, {"h"});
  auto& inner = OnnxBuilder::add_node(no, "If", {"other"}, {"u"});
  for (const char* name : {"then_branch", "else_branch"}) {
    auto& body = OnnxBuilder::body(inner, name);
    OnnxBuilder::add_node(body, "Relu", {"h"}, {"t"});
    add_output(body, "t");
  }
  add_output(no, "h");

  const std::string bytes = b.bytes();
  OnnxModel model = *parse_onnx(as_bytes(bytes));
  REQUIRE(prepare_model(model, with_value("use_cache=true")).ok());
  const auto& nodes = model.proto.graph().node();
  const auto named = [&](const std::string& name) {
    const auto at =
        std::find_if(nodes.begin(), nodes.end(), [&](const auto& n) { return n.name() == name; });
    REQUIRE_MESSAGE(at != nodes.end(), name);
    return *at;
  };
  CHECK(named("merged/Neg_1").output(0) == "merged/h");  // the name was too long
  const onnx::NodeProto after = named("choice");
  CHECK(after.attribute(0).g().node(0).input(0) == "merged/h");
  const onnx::GraphProto& other = after.attribute(1).g();
  const std::string own = other.node(0).output(0);
  CHECK(own == "choice/h");  // the main graph has the name
  CHECK(other.output(0).name() == own);
  CHECK(other.node(1).attribute(0).g().node(0).input(0) == own);
  CHECK(other.node(1).attribute(1).g().node(0).input(0) == own);
}

// Engines refuse a body that defines what the graph around it defines, too; and it would hide it.
//
//   x - If(always: relu - r - exp - e, Loop(neg - y, y + e) - l) - y, z - If(some: neg - r) - out
TEST_CASE("bodies keep no name that a branch brings into the graph around them") {
  OnnxBuilder b;
  b.input("x", {"4"});
  b.input("some", {}, onnx::TensorProto::BOOL);
  b.input("always", {}, onnx::TensorProto::BOOL);
  b.integers("trip", {3});
  auto& first = b.node("If", {"always"}, {"y", "z"}, "first");
  auto& other = OnnxBuilder::body(first, "else_branch");
  for (int i = 0; i < 2; ++i) add_output(other, "x");
  auto& taken = OnnxBuilder::body(first, "then_branch");
  OnnxBuilder::add_node(taken, "Relu", {"x"}, {"r"});
  OnnxBuilder::add_node(taken, "Exp", {"r"}, {"e"});
  auto& loop = OnnxBuilder::add_node(taken, "Loop", {"trip", "always", "x"}, {"l"}, "loop");
  auto& body = OnnxBuilder::body(loop, "body");
  for (const char* name : {"i", "goes", "last"}) body.add_input()->set_name(name);
  OnnxBuilder::add_node(body, "Neg", {"last"}, {"y"});
  OnnxBuilder::add_node(body, "Add", {"y", "e"}, {"sum"});
  OnnxBuilder::add_node(body, "Exp", {"sum"}, {"loop/y"});  // what "y" would be called
  add_output(body, "goes");
  add_output(body, "loop/y");
  add_output(taken, "e");
  add_output(taken, "l");
  auto& second = b.node("If", {"some"}, {"out"}, "second");
  for (const char* name : {"then_branch", "else_branch"}) {
    auto& stays = OnnxBuilder::body(second, name);
    OnnxBuilder::add_node(stays, "Neg", {"y"}, {"r"});
    OnnxBuilder::add_node(stays, "Add", {"r", "z"}, {"i"});
    OnnxBuilder::set_type(*stays.add_value_info(), "r", {"4"});
    add_output(stays, "i");
  }
  b.output("out");

  OnnxModel model = *parse_onnx(as_bytes(b.bytes()));
  const auto prepared = prepare_nodes(model, with_value("always=1"));
  REQUIRE_MESSAGE(prepared.ok(), prepared.status().message());
  const auto& nodes = model.proto.graph().node();
  REQUIRE(nodes.size() == 4);
  CHECK(nodes[0].output(0) == "r");
  CHECK(nodes[1].output(0) == "y");
  const onnx::GraphProto& inner = nodes[2].attribute(0).g();
  CHECK(inner.node(0).output(0) == "loop/y_1");
  CHECK(inner.node(1).input(0) == "loop/y_1");
  CHECK(inner.node(1).input(1) == "y");
  for (const auto& attribute : nodes[3].attribute()) {
    const onnx::GraphProto& stays = attribute.g();
    const std::string own = stays.node(0).output(0);
    CHECK(own.starts_with("second/r"));
    CHECK(stays.node(0).input(0) == "y");
    CHECK(stays.node(1).input(0) == own);
    CHECK(stays.node(1).input(1) == "z");
    CHECK(stays.value_info(0).name() == own);
    CHECK(stays.output(0).name() == "i");
  }
}

TEST_CASE("exporting sees the nodes that importing made, with free dimensions") {
  OnnxBuilder b = merged_model();
  b.graph()
      .mutable_input(0)
      ->mutable_type()
      ->mutable_tensor_type()
      ->mutable_shape()
      ->mutable_dim(0)
      ->set_dim_param("rows");
  auto model = parse_onnx(as_bytes(b.bytes()));
  REQUIRE(model.ok());
  ModelSettings settings = with_value("use_cache=false");
  settings.dims = {{"rows", 4}};
  REQUIRE(prepare_nodes(*model, settings).ok());
  CHECK(model->node_names ==
        std::vector<std::string>{"relu", "product", "merged/relu", "merged/result_1", "add"});
  CHECK(model->proto.graph().input_size() == 1);
  CHECK(model->proto.graph().input(0).type().tensor_type().shape().dim(0).dim_param() == "rows");
}

TEST_CASE("settings of inputs that are not there, or do not fit, are refused") {
  for (const char* text : {"use_cache", "=1", "use_cache=", "use_cache=maybe", "use_cache=nan"}) {
    CHECK(!parse_input_setting(text).ok());
  }
  const auto problem = [](const char* text) {
    const auto result = import_with(merged_model(), with_value(text));
    REQUIRE(!result.ok());
    CHECK(result.status().code() == StatusCode::kInvalidArgument);
    return result.status().message();
  };
  CHECK(problem("cache=1").find("expected one of 'x', 'use_cache'") != std::string::npos);
  CHECK(problem("use_cache=1,0").find("2 values") != std::string::npos);
  CHECK(problem("use_cache=2").find("'use_cache': 2 is no bool") != std::string::npos);
  CHECK(problem("use_cache=0.5").find("0.5 is no bool") != std::string::npos);
}

TEST_CASE("inputs of whole numbers are set to such as their elements can be") {
  const auto set = [](int type, const char* value) {
    OnnxBuilder b;
    b.input("x", {"1"}, type);
    b.input("a", {"1"}, type);
    b.node("Add", {"x", "a"}, {"y"}, "add");
    b.output("y");
    return import_with(b, with_value((std::string("a=") + value).c_str())).ok();
  };
  using onnx::TensorProto;
  CHECK(set(TensorProto::INT64, "16000"));
  CHECK(!set(TensorProto::INT64, "16000.7"));
  CHECK(!set(TensorProto::INT64, "1e19"));
  CHECK(set(TensorProto::INT8, "-128"));
  CHECK(!set(TensorProto::INT8, "128"));
  CHECK(set(TensorProto::UINT8, "255"));
  CHECK(!set(TensorProto::UINT8, "-1"));
  CHECK(!set(TensorProto::INT32, "2147483648"));
  CHECK(set(TensorProto::UINT32, "4294967295"));
  CHECK(set(TensorProto::FLOAT, "0.5"));
}

TEST_CASE("inputs that only the other branch reads need no dimensions") {
  OnnxBuilder b = merged_model();
  b.input("past", {"length", "4"});
  auto& then_branch = *b.graph().mutable_node(1)->mutable_attribute(0)->mutable_g();
  then_branch.mutable_node(0)->set_input(0, "past");
  CHECK(import_with(b, with_value("use_cache=false")).ok());
  const auto result = import_with(b, with_value("use_cache=true"));
  REQUIRE(!result.ok());
  CHECK(result.status().message().find("dimension setting 'length=1'") != std::string::npos);
}

TEST_CASE("a symbol that a default sets has that number in inner tensors, too") {
  // An operator that nobody knows hides a shape, but the model says it.
  OnnxBuilder b;
  b.input("x", {"batch", "8"});
  b.node("Hide", {"x"}, {"h"}, "hide").set_domain("example");
  b.node("Relu", {"h"}, {"y"}, "relu");
  OnnxBuilder::set_type(*b.graph().add_value_info(), "h", {"batch", "4"});
  b.output("y");
  ModelSettings all;
  all.dims = {{"*", 3}};
  CHECK(inlined(b, all).spec.nodes[1].outputs == std::vector<uint64_t>{3 * 4 * 4});
  ModelSettings axis;
  axis.dims = {{"x[0]", 5}, {"*", 3}};
  CHECK(inlined(b, axis).spec.nodes[1].outputs == std::vector<uint64_t>{5 * 4 * 4});
}

TEST_CASE("tensors that no memory holds are refused") {
  OnnxBuilder b;
  b.input("x", {"a", "b", "c"});
  b.node("Relu", {"x"}, {"y"}, "relu");
  b.output("y");
  ModelSettings all;
  all.dims = {{"*", 2147483647}};
  ImportOptions options;
  options.settings = all;
  const std::string bytes = b.bytes();
  const auto got = import_onnx(as_bytes(bytes), "model", options);
  REQUIRE(!got.ok());
  CHECK(got.status().message() ==
        "graph.node[0] 'relu': makes 'y' (2147483647x2147483647x2147483647), which is more than "
        "2^62 bytes, expected what fits in a memory");
}

TEST_CASE("shapes of inner tensors can be given where an operator hides them") {
  OnnxBuilder b;
  b.input("x", {"1", "8"});
  b.node("Hide", {"x"}, {"h"}, "hide").set_domain("example");
  b.node("Relu", {"h"}, {"y"}, "relu");
  b.output("y");
  CHECK(inlined(b).report.unknown.size() == 2);
  ModelSettings settings;
  settings.shapes = {*parse_shape_setting("h=2x3x5")};
  const ImportedGraph got = inlined(b, settings);
  CHECK(got.report.unknown.empty());
  CHECK(got.spec.nodes[0].outputs == std::vector<uint64_t>{2 * 3 * 5 * 4});
  CHECK(got.spec.nodes[0].bytes_accessed == 8 * 4 + 2 * 3 * 5 * 4);
  CHECK(got.spec.nodes[1].outputs == std::vector<uint64_t>{2 * 3 * 5 * 4});
  settings.shapes = {*parse_shape_setting("h=7:float16")};
  CHECK(inlined(b, settings).spec.nodes[0].outputs == std::vector<uint64_t>{14});
  settings.shapes = {*parse_shape_setting("g=7")};
  CHECK(import_with(b, settings).status().message().find("'g'") != std::string::npos);
  for (const char* text : {"h", "h=", "=3", "h=2x", "h=-1", "h=2:nonsense", "h=2y3"}) {
    CHECK(!parse_shape_setting(text).ok());
  }
}

TEST_CASE(
    "types of shapes are named as ONNX or as NumPy names them, and are listed if there is none") {
  CHECK(parse_shape_setting("features=1x256x7x7:float32")->element_type == 1);  // as in our header
  CHECK(parse_shape_setting("h=7:float")->element_type == 1);
  CHECK(parse_shape_setting("h=7:float64")->element_type == 11);
  CHECK(parse_shape_setting("h=7:double")->element_type == 11);
  CHECK(parse_shape_setting("h=7:bool")->element_type == 9);
  const std::string message = parse_shape_setting("h=7:fp32").status().message();
  CAPTURE(message);
  CHECK(message.find("'fp32' is no type of elements") != std::string::npos);
  CHECK(message.find("float32 (or float), uint8, ") != std::string::npos);
  CHECK(message.ends_with(", int2"));
}

TEST_CASE("a shape that operators contradict is refused, one that the model only says is not") {
  OnnxBuilder b;
  b.input("x", {"1", "8"});
  b.node("Relu", {"x"}, {"r"}, "relu");
  b.node("Hide", {"r"}, {"h"}, "hide").set_domain("example");
  b.node("Hide", {"h"}, {"y"}, "hide too").set_domain("example");
  OnnxBuilder::set_type(*b.graph().add_value_info(), "h", {"n", "5"});
  OnnxBuilder::set_type(*b.graph().add_output(), "y", {"3", "7"});
  const auto problem = [&](const std::string& shape) {
    ModelSettings settings;
    settings.shapes = {*parse_shape_setting(shape)};
    const auto result = import_with(b, settings);
    if (!result.ok()) CHECK(result.status().code() == StatusCode::kInvalidArgument);
    return result.ok() ? "" : result.status().message();
  };
  CHECK(problem("r=1x8") == "");
  CHECK(problem("r=1x9").starts_with("shape setting 'r': 1x9 contradicts 1x8, which follows"));
  CHECK(problem("r=1x8:float") == "");
  CHECK(problem("r=1x8:int64") ==
        "shape setting 'r': int64 contradicts float, which follows from the operator; expected no "
        "type, or that one");
  CHECK(problem("r=8").starts_with("shape setting 'r': 8 contradicts 1x8, which follows"));
  for (const char* shape : {"h=4x5", "h=4x6", "y=3x7", "y=3x8"}) CHECK(problem(shape) == "");
  const auto got = [&](const std::string& shape) {
    ModelSettings settings;
    settings.shapes = {*parse_shape_setting(shape)};
    return inlined(b, settings);
  };
  CHECK(got("h=4x5").report.corrected.empty());
  CHECK(got("h=4x6").spec.nodes[1].outputs == std::vector<uint64_t>{4 * 6 * 4});
  CHECK(got("h=4x6").report.corrected ==
        std::vector<std::string>{"shape setting 'h': 4x6 instead of ?x5, as the model says it"});
  CHECK(got("y=3x8").spec.nodes[2].outputs == std::vector<uint64_t>{3 * 8 * 4});
  OnnxBuilder::set_type(*b.graph().mutable_output(0), "y", {"3", "7"}, onnx::TensorProto::INT64);
  CHECK(got("y=3x8").spec.nodes[2].outputs == std::vector<uint64_t>{3 * 8 * 8});
}
