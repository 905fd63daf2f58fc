// ONNX models exported: folders of stages, annotated copies, rules by name.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <nlohmann/json.hpp>

#include "tests/support/text.h"
#include "tests/unit/export_fixture.h"
#include "tools/export/annotate.h"
#include "tools/export/new_directory.h"
#include "tools/export/onnx_export.h"
#include "tools/export/value_types.h"

namespace placeto {
namespace {

namespace fs = std::filesystem;
using test::Folder;
using test::OnnxBuilder;
using test::pair_model;
using test::placed_pair;

TEST_CASE("annotations are on nodes of the main graph, and older ones are gone") {
  OnnxBuilder b;
  b.input("x", {"4"});
  b.input("c", {}, onnx::TensorProto::BOOL);
  b.node("Relu", {"x"}, {"p"}, "a");
  auto& choice = b.node("If", {"c"}, {"y"}, "choice");
  onnx::GraphProto& yes = OnnxBuilder::body(choice, "then_branch");
  auto& inner = OnnxBuilder::add_node(yes, "Neg", {"p"}, {"t"}, "neg");
  const std::string other("\x4a\x0a\x0a\x03key\x12\x03val", 12);      // another entry of field 9
  const std::string old("\x4a\x10\x0a\x09layer_ann\x12\x03old", 18);  // an older annotation
  REQUIRE(inner.MergeFromString(old));
  REQUIRE(annotation_of(inner) == "old");
  REQUIRE(b.graph().mutable_node(0)->MergeFromString(other + old));
  b.output("y");
  REQUIRE(annotate(b.model(), std::vector<uint32_t>{1, 10}).ok());
  CHECK(annotation_of(b.graph().node(0)) == "plc1");
  CHECK(annotation_of(b.graph().node(1)) == "plc10");
  CHECK(annotation_of(b.graph().node(1).attribute(0).g().node(0)) == "");
  CHECK(b.graph().node(1).attribute(0).g().node(0).name() == "neg");
  CHECK(b.graph().node(0).SerializeAsString().find(other) != std::string::npos);
  CHECK(annotation_rules(std::vector<std::string>{"cpu", "", "gpu"}) == "cpu(=plc0);gpu(=plc2)");
}

TEST_CASE("a model that was read from a descriptor has no name") {
  const Folder folder;
  OnnxBuilder b = pair_model();
  folder.write("m.onnx", b.bytes());
  const int file = open(folder.path("m.onnx").c_str(), O_RDONLY | O_CLOEXEC);
  REQUIRE(file >= 0);
  const auto model = PlacedModel::read("/proc/self/fd/" + std::to_string(file), placed_pair());
  REQUIRE_MESSAGE(model.ok(), model.status().message());
  REQUIRE(model->write_stages(folder.path("out"), StageRule::kFewest).ok());
  CHECK(nlohmann::json::parse(folder.read("out/manifest.json"))["model"] == "");
  close(file);
}

TEST_CASE("a split folder has the stages and a manifest that says how to run them") {
  const Folder folder;
  OnnxBuilder b = pair_model();
  folder.write("m.onnx", b.bytes());
  const auto model = PlacedModel::read(folder.path("m.onnx"), placed_pair());
  REQUIRE_MESSAGE(model.ok(), model.status().message());
  const auto summary = model->write_stages(folder.path("out"), StageRule::kFewest);
  REQUIRE_MESSAGE(summary.ok(), summary.status().message());
  CHECK(summary->stages.size() == 2);
  const auto manifest = nlohmann::json::parse(folder.read("out/manifest.json"));
  CHECK(manifest["order"] == nlohmann::json{0, 1});
  CHECK(manifest["inputs"][0] ==
        nlohmann::json{{"name", "x"}, {"type", "float32"}, {"shape", {4}}});
  CHECK(manifest["outputs"][0]["stage"] == 1);
  CHECK(manifest["stages"][1]["device"] == "gpu:0");
  CHECK(manifest["stages"][1]["inputs"][0]["name"] == "q");
  CHECK(manifest["stages"][1]["inputs"][0]["stage"] == 0);
  CHECK(manifest["stages"][1]["after"] == nlohmann::json{0});
  onnx::ModelProto stage;
  CHECK(stage.ParseFromString(folder.read("out/stage_1.onnx")));

  // A folder with files in it is left alone.
  CHECK_FALSE(model->write_stages(folder.path("out"), StageRule::kFewest).ok());
  CHECK(folder.size() == 2);
}

//   x - reshape(., s) - squeeze - if(c: then_op, else: custom) - neg - y     the last on device 1
//
// The reshape hides even the number of axes, and nobody knows the custom operator.
OnnxBuilder hidden_model(const std::string& then_op) {
  OnnxBuilder b;
  b.input("x", {"4"});
  b.input("s", {"n"}, onnx::TensorProto::INT64);
  b.input("c", {}, onnx::TensorProto::BOOL);
  b.node("Reshape", {"x", "s"}, {"h"}, "reshape");
  b.node("Squeeze", {"h"}, {"q"}, "squeeze");
  auto& branch = b.node("If", {"c"}, {"r"}, "if");
  auto& then_branch = OnnxBuilder::body(branch, "then_branch");
  OnnxBuilder::add_node(then_branch, then_op, {"q"}, {"a"});
  then_branch.add_output()->set_name("a");
  auto& else_branch = OnnxBuilder::body(branch, "else_branch");
  OnnxBuilder::add_node(else_branch, "CustomOperator", {"q"}, {"b"});
  else_branch.add_output()->set_name("b");
  b.node("Neg", {"r"}, {"y"}, "neg");
  b.output("y");
  return b;
}

TEST_CASE("a model whose nodes stand before what they read is split as if they were sorted") {
  OnnxBuilder b = pair_model();
  std::reverse(b.graph().mutable_node()->begin(), b.graph().mutable_node()->end());
  const Folder folder;
  folder.write("m.onnx", b.bytes());
  auto model = PlacedModel::read(folder.path("m.onnx"), placed_pair());
  REQUIRE_MESSAGE(model.ok(), model.status().message());
  const auto summary = model->write_stages(folder.path("out"), StageRule::kFewest);
  REQUIRE_MESSAGE(summary.ok(), summary.status().message());
  REQUIRE(summary->stages.size() == 2);
  for (const auto& [file, nodes] : {std::pair<const char*, std::vector<std::string>>{
                                        "out/stage_0.onnx", {"constant", "a", "b0"}},
                                    {"out/stage_1.onnx", {"constant", "b1", "b2"}}}) {
    onnx::ModelProto proto;
    REQUIRE(proto.ParseFromString(folder.read(file)));
    std::vector<std::string> names;
    for (const auto& node : proto.graph().node()) names.push_back(node.name());
    CHECK(names == nodes);
  }
}

TEST_CASE(
    "nodes of a stage are called as in the graph, also those that have no name or a shared one") {
  OnnxBuilder b;
  b.input("x", {"4"});
  b.node("Relu", {"x"}, {"p"});
  b.node("Relu", {"p"}, {"q"}, "same");
  b.node("Neg", {"q"}, {"r"}, "same");
  b.node("Relu", {"r"}, {"y"});
  OnnxBuilder::set_type(*b.graph().add_output(), "y", {"4"});
  const Folder folder;
  folder.write("m.onnx", b.bytes());
  PlacementSpec placement;
  placement.devices = {"cpu:0", "gpu:0"};
  placement.assignment = {0, 0, 1, 1};
  const auto placed = placed_model(folder.path("m.onnx"), placement);
  REQUIRE_MESSAGE(placed.ok(), placed.status().message());
  const auto model = PlacedModel::read(folder.path("m.onnx"), *placed);
  REQUIRE_MESSAGE(model.ok(), model.status().message());
  REQUIRE(model->write_stages(folder.path("out"), StageRule::kFewest).ok());
  std::vector<std::string> names, expected;
  for (const char* file : {"out/stage_0.onnx", "out/stage_1.onnx"}) {
    const auto nodes = model_nodes(folder.path(file));
    REQUIRE_MESSAGE(nodes.ok(), nodes.status().message());
    for (const ModelNode& node : *nodes) names.push_back(node.name);
  }
  for (const PlacedNode& node : placed->nodes) expected.push_back(node.name);
  CHECK(names == expected);
}

TEST_CASE("sizes that are tried for free dimensions refuse nothing, however large a window is") {
  OnnxBuilder b;
  b.input("x", {"1", "1", "samples"});
  b.weight("w", {8, 1, 1'000});
  b.node("Conv", {"x", "w"}, {"y"}, "conv");
  b.output("y");
  const Result<ValueTypes> types = infer_types(b.model());
  REQUIRE_MESSAGE(types.ok(), types.status().message());
  CHECK(types->at("y").tensor_type().elem_type() == onnx::TensorProto::FLOAT);
}

TEST_CASE("types of elements follow through unknown shapes and from one branch of an If") {
  const Folder folder;
  const Placed placed = {"test",
                         "host",
                         {"cpu:0", "gpu:0"},
                         {{"reshape", "Reshape", 0, 0},
                          {"squeeze", "Squeeze", 0, 0},
                          {"if", "If", 0, 0},
                          {"neg", "Neg", 1, 0}}};
  folder.write("known.onnx", hidden_model("Identity").bytes());
  const auto known = PlacedModel::read(folder.path("known.onnx"), placed);
  REQUIRE_MESSAGE(known.ok(), known.status().message());
  const auto summary = known->write_stages(folder.path("out"), StageRule::kOverlap);
  REQUIRE_MESSAGE(summary.ok(), summary.status().message());
  onnx::ModelProto stage;
  REQUIRE(stage.ParseFromString(folder.read("out/stage_1.onnx")));
  CHECK(stage.graph().input(0).name() == "r");
  CHECK(stage.graph().input(0).type().tensor_type().elem_type() == onnx::TensorProto::FLOAT);
  CHECK_FALSE(stage.graph().input(0).type().tensor_type().has_shape());

  folder.write("hidden.onnx", hidden_model("CustomOperator").bytes());
  const auto hidden = PlacedModel::read(folder.path("hidden.onnx"), placed);
  REQUIRE_MESSAGE(hidden.ok(), hidden.status().message());
  const auto refused = hidden->write_stages(folder.path("none"), StageRule::kOverlap);
  CHECK(refused.status().message().find("type of tensor 'r', which stage 1 reads") !=
        std::string::npos);
  CHECK(refused.status().message().find("graph.value_info") != std::string::npos);
  CHECK_FALSE(fs::exists(folder.path("none")));

  ModelSettings told;
  told.shapes = {{"h", {2, 1}, 0}, {"r", {2}, onnx::TensorProto::FLOAT16}};
  const auto helped = PlacedModel::read(folder.path("hidden.onnx"), placed, told);
  REQUIRE_MESSAGE(helped.ok(), helped.status().message());
  const auto split = helped->write_stages(folder.path("helped"), StageRule::kOverlap);
  REQUIRE_MESSAGE(split.ok(), split.status().message());
  REQUIRE(stage.ParseFromString(folder.read("helped/stage_1.onnx")));
  const auto& type = stage.graph().input(0).type().tensor_type();
  CHECK(type.elem_type() == onnx::TensorProto::FLOAT16);
  REQUIRE(type.shape().dim_size() == 1);
  CHECK_FALSE(type.shape().dim(0).has_dim_value());  // right for others, too
}

TEST_CASE("stages keep what the model and its graph say beside their nodes") {
  OnnxBuilder b = pair_model();
  b.model().set_doc_string("of the model");
  b.model().mutable_graph()->set_doc_string("of the graph");
  auto* const said = b.model().add_metadata_props();
  said->set_key("author");
  said->set_value("somebody");
  const Folder folder;
  folder.write("model.onnx", b.bytes());
  const auto model = PlacedModel::read(folder.path("model.onnx"), placed_pair());
  REQUIRE_MESSAGE(model.ok(), model.status().message());
  REQUIRE(model->write_stages(folder.path("out"), std::nullopt).ok());
  for (const char* file : {"out/stage_0.onnx", "out/stage_1.onnx"}) {
    onnx::ModelProto stage;
    REQUIRE(stage.ParseFromString(folder.read(file)));
    CHECK(stage.doc_string() == "of the model");
    CHECK(stage.graph().doc_string() == "of the graph");
    REQUIRE(stage.metadata_props_size() == 1);
    CHECK(stage.metadata_props(0).value() == "somebody");
  }
}

// x - sigmoid - p - reshape(p, shape of p) - q - neg - y. The input was made free in a model that
// was finished for so many rows, or, of the constant number, is stated to have more than it has.
OnnxBuilder outdated_model(const std::string& axis, const std::string& rows) {
  OnnxBuilder b;
  b.input("x", {axis, "8"});
  b.node("Sigmoid", {"x"}, {"p"}, "sigmoid");
  b.node("Shape", {"p"}, {"s"}, "shape");
  b.node("Reshape", {"p", "s"}, {"q"}, "reshape");
  b.node("Neg", {"q"}, {"y"}, "neg");
  for (const char* name : {"p", "q"}) {
    OnnxBuilder::set_type(*b.graph().add_value_info(), name, {rows, "8"});
  }
  OnnxBuilder::set_type(*b.graph().add_output(), "y", {axis, "8"});
  return b;
}

TEST_CASE("a length that a model states of a tensor is left open where its inputs say another") {
  const Placed placed = {"test",
                         "host",
                         {"cpu:0", "gpu:0"},
                         {{"sigmoid", "Sigmoid", 0, 0},
                          {"shape", "Shape", 1, 0},
                          {"reshape", "Reshape", 1, 0},
                          {"neg", "Neg", 0, 0}}};
  using Case = std::pair<std::string, std::string>;
  for (const auto& [axis, rows] :
       {Case{"batch", "1"}, {"", "1"}, {"4", "1"}, {"batch", "64"}, {"", "128"}}) {
    CAPTURE(axis);
    CAPTURE(rows);
    const Folder folder;
    folder.write("m.onnx", outdated_model(axis, rows).bytes());
    const auto model = PlacedModel::read(folder.path("m.onnx"), placed);
    REQUIRE_MESSAGE(model.ok(), model.status().message());
    const auto summary = model->write_stages(folder.path("out"), StageRule::kFewest);
    REQUIRE_MESSAGE(summary.ok(), summary.status().message());
    REQUIRE(summary->stages.size() == 3);
    for (const char* file : {"out/stage_1.onnx", "out/stage_2.onnx"}) {
      onnx::ModelProto stage;
      REQUIRE(stage.ParseFromString(folder.read(file)));
      const auto& shape = stage.graph().input(0).type().tensor_type().shape();
      REQUIRE(shape.dim_size() == 2);
      CHECK_FALSE(shape.dim(0).has_dim_value());
      CHECK(shape.dim(1).dim_value() == 8);
    }
  }
}

// Numbers that stand for the free axes say no length, and, of a list of lengths, no number of axes.
TEST_CASE("lists and optionals state no lengths of their elements that depend on free axes") {
  OnnxBuilder b(18);
  b.input("x", {"rows", "8"});
  b.input("lengths", {"axes"}, onnx::TensorProto::INT64);
  b.node("Reshape", {"x", "lengths"}, {"any"});
  b.node("Optional", {"any"}, {"optional"});
  b.node("Shape", {"x"}, {"shape"});
  b.node("Reshape", {"x", "shape"}, {"rows"});
  b.node("SequenceConstruct", {"rows"}, {"list"});
  const Result<ValueTypes> types = infer_types(b.model());
  REQUIRE_MESSAGE(types.ok(), types.status().message());
  const auto& optional = types->at("optional").optional_type().elem_type().tensor_type();
  CHECK(optional.elem_type() == onnx::TensorProto::FLOAT);
  CHECK_FALSE(optional.has_shape());
  const auto& list = types->at("list").sequence_type().elem_type().tensor_type();
  CHECK(list.elem_type() == onnx::TensorProto::FLOAT);
  if (list.has_shape() && list.shape().dim_size() > 0)
    CHECK_FALSE(list.shape().dim(0).has_dim_value());
}

TEST_CASE("placements of other models are refused") {
  const Folder folder;
  folder.write("m.onnx", pair_model().bytes());
  Placed missing = placed_pair();
  missing.nodes.pop_back();
  CHECK(PlacedModel::read(folder.path("m.onnx"), missing).status().message().find("'dead'") !=
        std::string::npos);
  Placed extra = placed_pair();
  extra.nodes.push_back({"more", "", 0, 0});
  CHECK(PlacedModel::read(folder.path("m.onnx"), extra).status().message().find("'more'") !=
        std::string::npos);
  PlacementSpec placement;
  placement.devices = {"cpu:0"};
  placement.assignment = {0, 0};
  CHECK_FALSE(placed_model(folder.path("m.onnx"), placement).ok());
}

TEST_CASE("what a killed export left behind is removed, and what another writes is not") {
  const Folder folder;
  folder.write("m.onnx", pair_model().bytes());
  fs::create_directories(folder.path("out.partial-aBcDeF"));
  folder.write("out.partial-aBcDeF/stage_0.onnx", "half");
  folder.write("out.partial-aBcDeF/.placeto-scratch", "");
  for (const char* own : {"out.partial-not", "out.partial-backup"}) {  // somebody else's
    fs::create_directories(folder.path(own));
    folder.write(std::string(own) + "/thesis.txt", "mine");
  }
  const auto other = NewDirectory::create(folder.path("out"));
  REQUIRE(other.ok());
  CHECK(!fs::exists(folder.path("out.partial-aBcDeF")));
  const auto model = PlacedModel::read(folder.path("m.onnx"), placed_pair());
  REQUIRE_MESSAGE(model.ok(), model.status().message());
  CHECK(model->write_stages(folder.path("out"), StageRule::kFewest).ok());
  CHECK(fs::exists(other->file("")));
  CHECK(fs::exists(folder.path("out.partial-not/thesis.txt")));
  CHECK(fs::exists(folder.path("out.partial-backup/thesis.txt")));
  CHECK(!fs::exists(folder.path("out/.placeto-scratch")));
}

TEST_CASE("an export through a link to an empty folder goes into that folder") {
  const Folder folder;
  folder.write("m.onnx", pair_model().bytes());
  fs::create_directories(folder.path("far/away"));
  fs::create_directory_symlink("far/away", folder.path("link"));
  const auto model = PlacedModel::read(folder.path("m.onnx"), placed_pair());
  REQUIRE_MESSAGE(model.ok(), model.status().message());
  const auto written = model->write_stages(folder.path("link"), StageRule::kFewest);
  CHECK_MESSAGE(written.ok(), written.status().message());
  CHECK(fs::is_symlink(folder.path("link")));
  CHECK(fs::exists(folder.path("far/away/manifest.json")));
  CHECK(!model->write_stages(folder.path("link"), StageRule::kFewest).ok());
}

TEST_CASE("an export does not begin where it would take the place of the current folder") {
  const Folder folder;
  folder.write("m.onnx", pair_model().bytes());
  const auto model = PlacedModel::read(folder.path("m.onnx"), placed_pair());
  REQUIRE_MESSAGE(model.ok(), model.status().message());
  fs::create_directories(folder.path("out"));
  const fs::path before = fs::current_path();
  fs::current_path(folder.path("out"));
  for (const std::string& here : {std::string("."), folder.path("out")}) {
    const auto written = model->write_stages(here, StageRule::kFewest);
    CHECK(written.status().code() == StatusCode::kInvalidArgument);
    CHECK(test::contains(written.status().message(), "is the current folder"));
  }
  fs::current_path(before);
  CHECK(fs::is_empty(folder.path("out")));
}

TEST_CASE("an export that is interrupted leaves nothing") {
  const Folder folder;
  folder.write("m.onnx", pair_model().bytes());
  const auto model = PlacedModel::read(folder.path("m.onnx"), placed_pair());
  REQUIRE_MESSAGE(model.ok(), model.status().message());
  const std::atomic<bool> interrupted = true;
  const auto written = model->write_stages(folder.path("out"), StageRule::kFewest, &interrupted);
  CHECK(written.status().code() == StatusCode::kStopped);
  CHECK(folder.size() == 1);
}

TEST_CASE("stages that share what is in the model do not fill the disk") {
  const Folder folder;
  OnnxBuilder b;
  b.input("x0", {"4096"});
  b.weight("w", {4096});
  Placed placed{"test", "host", {"cpu:0", "gpu:0"}, {}};
  for (uint32_t i = 0; i < 300; ++i) {
    const std::string name = "n" + std::to_string(i), from = "x" + std::to_string(i);
    b.node("Add", {from, "w"}, {"x" + std::to_string(i + 1)}, name);
    placed.nodes.push_back({name, "Add", i % 2, 0});
  }
  b.output("x300");
  folder.write("m.onnx", b.bytes());
  const auto model = PlacedModel::read(folder.path("m.onnx"), placed);
  REQUIRE_MESSAGE(model.ok(), model.status().message());
  const auto written = model->write_stages(folder.path("out"), StageRule::kFewest);
  CHECK(written.status().code() == StatusCode::kBadInput);
  CHECK(test::contains(written.status().message(), "more than 64 times what the model does"));
  CHECK(folder.size() == 1);
}

TEST_CASE("name rules of a model cover the bodies of control flow") {
  const Folder folder;
  OnnxBuilder b;
  b.input("x", {"4"});
  b.input("c", {}, onnx::TensorProto::BOOL);
  b.node("Relu", {"x"}, {"p"}, "neg_stem");
  auto& choice = b.node("If", {"c"}, {"y"}, "choice");
  for (const char* branch : {"then_branch", "else_branch"}) {
    onnx::GraphProto& body = OnnxBuilder::body(choice, branch);
    OnnxBuilder::add_node(body, "Neg", {"p"}, {branch}, "neg");
    body.add_output()->set_name(branch);
  }
  b.output("y");
  folder.write("m.onnx", b.bytes());
  const Placed placed{
      "test", "host", {"cpu:0", "gpu:0"}, {{"neg_stem", "Relu", 0, 0}, {"choice", "If", 1, 0}}};
  const auto model = PlacedModel::read(folder.path("m.onnx"), placed);
  REQUIRE_MESSAGE(model.ok(), model.status().message());
  const auto rules = model->name_rules(std::vector<std::string>{"cpu", "gpu"});
  REQUIRE_MESSAGE(rules.ok(), rules.status().message());
  CHECK(rules->find("neg_") != std::string::npos);
}

}  // namespace
}  // namespace placeto
