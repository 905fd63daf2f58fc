// ONNX models in stages and with annotations.
#include <doctest/doctest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <set>
#include <string>

#include "tests/support/onnx_models.h"
#include "tools/export/annotate.h"
#include "tools/export/external_data.h"
#include "tools/export/new_directory.h"
#include "tools/export/onnx_export.h"
#include "tools/export/split.h"

namespace placeto {
namespace {

using test::OnnxBuilder;
namespace fs = std::filesystem;

class Folder {
 public:
  Folder() {
    std::string pattern = (fs::temp_directory_path() / "placeto-export-XXXXXX").string();
    REQUIRE(mkdtemp(pattern.data()) != nullptr);
    root_ = pattern;
  }
  Folder(const Folder&) = delete;
  ~Folder() { fs::remove_all(root_); }
  std::string path(const std::string& name) const { return (root_ / name).string(); }
  void write(const std::string& name, const std::string& bytes) const {
    std::ofstream(path(name), std::ios::binary) << bytes;
  }
  std::string read(const std::string& name) const {
    std::ifstream file(path(name), std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  size_t size() const {
    return static_cast<size_t>(
        std::distance(fs::directory_iterator(root_), fs::directory_iterator()));
  }

 private:
  fs::path root_;
};

std::set<std::string> names_of(const auto& tensors) {
  std::set<std::string> names;
  for (const auto& tensor : tensors) names.insert(tensor.name());
  return names;
}

using Names = std::set<std::string>;

// Types of everything are float vectors.
ValueTypes float_types(const onnx::ModelProto& model) {
  ValueTypes types;
  for (const auto& node : model.graph().node()) {
    for (const std::string& name : node.output()) {
      types[name].mutable_tensor_type()->set_elem_type(onnx::TensorProto::FLOAT);
    }
  }
  return types;
}

SplitPlan plan_of(const onnx::ModelProto& model, const std::vector<uint32_t>& device) {
  auto plan = plan_split(model, float_types(model), device, 2, StageRule::kFewest);
  REQUIRE_MESSAGE(plan.ok(), plan.status().message());
  return std::move(*plan);
}

//   x - a - b - y      a on device 0, b on device 1; both read w and the constant k; a skips an
//                      optional input
OnnxBuilder pair_model() {
  OnnxBuilder b;
  b.input("x", {"4"});
  b.weight("w", {4});
  auto& constant = b.node("Constant", {}, {"k"}, "constant");
  auto* value = constant.add_attribute();
  value->set_name("value_float");
  value->set_type(onnx::AttributeProto::FLOAT);
  value->set_f(2);
  b.node("Clip", {"x", "", "k"}, {"p"}, "a");
  b.node("Add", {"p", "w"}, {"q"}, "b0");
  b.node("Mul", {"q", "w"}, {"r"}, "b1");
  b.node("Mul", {"r", "k"}, {"y"}, "b2");
  b.node("Neg", {"q"}, {"unused"}, "dead");
  b.output("y");
  return b;
}

TEST_CASE("a stage has its nodes, the weights they read and what crosses its boundary") {
  const OnnxBuilder b = pair_model();
  OnnxBuilder copy = b;
  onnx::ModelProto& model = copy.model();
  const SplitPlan plan = plan_of(model, {0, 0, 0, 1, 1, 1});
  REQUIRE(plan.stages.size() == 2);
  CHECK(plan.unused_nodes == 1);
  const onnx::ModelProto first = stage_model(model, plan, 0), second = stage_model(model, plan, 1);
  CHECK(names_of(first.graph().node()) == Names{"constant", "a", "b0"});
  CHECK(names_of(second.graph().node()) == Names{"constant", "b1", "b2"});
  CHECK(first.graph().node(1).input(1) == "");
  CHECK(names_of(first.graph().initializer()) == Names{"w"});
  CHECK(names_of(second.graph().initializer()) == Names{"w"});
  CHECK(names_of(first.graph().input()) == Names{"x"});
  CHECK(names_of(first.graph().output()) == Names{"q"});
  CHECK(names_of(second.graph().input()) == Names{"q"});
  CHECK(names_of(second.graph().output()) == Names{"y"});
  CHECK(second.graph().input(0).type().tensor_type().elem_type() == onnx::TensorProto::FLOAT);
  CHECK(plan.stages[1].after == std::vector<uint32_t>{0});
  CHECK(plan.output_stage == std::vector<uint32_t>{1});
}

TEST_CASE("what a model says beside its graph is in every stage") {
  OnnxBuilder b = pair_model();
  onnx::ModelProto& model = b.model();
  auto* custom = model.add_opset_import();
  custom->set_domain("com.example");
  custom->set_version(3);
  model.add_functions()->set_name("f");
  auto* note = model.add_metadata_props();
  note->set_key("author");
  note->set_value("somebody");
  const SplitPlan plan = plan_of(model, {0, 0, 0, 1, 1, 1});
  for (uint32_t s = 0; s < 2; ++s) {
    const onnx::ModelProto stage = stage_model(model, plan, s);
    CHECK(stage.ir_version() == model.ir_version());
    REQUIRE(stage.opset_import_size() == 2);
    CHECK(stage.opset_import(1).domain() == "com.example");
    CHECK(stage.functions_size() == 1);
    CHECK(stage.metadata_props(0).value() == "somebody");
  }
}

//   x - a - p - If(c) { then: Neg(p), else: p + w } - y
TEST_CASE("what the bodies of control flow read becomes an input of the stage, or its weight") {
  OnnxBuilder b;
  b.input("x", {"4"});
  b.input("c", {}, onnx::TensorProto::BOOL);
  b.weight("w", {4});
  b.node("Relu", {"x"}, {"p"}, "a");
  auto& choice = b.node("If", {"c"}, {"y"}, "choice");
  onnx::GraphProto& yes = OnnxBuilder::body(choice, "then_branch");
  OnnxBuilder::add_node(yes, "Neg", {"p"}, {"t"}, "neg");
  yes.add_output()->set_name("t");
  onnx::GraphProto& no = OnnxBuilder::body(choice, "else_branch");
  OnnxBuilder::add_node(no, "Add", {"p", "w"}, {"e"}, "add");
  no.add_output()->set_name("e");
  b.output("y");
  const SplitPlan plan = plan_of(b.model(), {0, 1});
  REQUIRE(plan.stages.size() == 2);
  const onnx::ModelProto stage = stage_model(b.model(), plan, 1);
  CHECK(names_of(stage.graph().input()) == Names{"c", "p"});
  CHECK(names_of(stage.graph().initializer()) == Names{"w"});
}

TEST_CASE("outputs may be read by others, be weights, or be inputs") {
  OnnxBuilder b;
  b.input("x", {"4"});
  b.weight("w", {4});
  b.weight("alone", {4});
  b.node("Relu", {"x"}, {"p"}, "a");
  b.node("Add", {"p", "w"}, {"y"}, "b");
  for (const char* name : {"p", "y", "w", "alone", "x"}) b.output(name);
  const SplitPlan plan = plan_of(b.model(), {0, 1});
  CHECK(plan.output_stage == std::vector<uint32_t>{0, 1, 1, 0, kFromInput});
  const onnx::ModelProto first = stage_model(b.model(), plan, 0);
  CHECK(names_of(first.graph().output()) == Names{"p", "alone"});
  CHECK(names_of(first.graph().initializer()) == Names{"alone"});
  CHECK(names_of(stage_model(b.model(), plan, 1).graph().output()) == Names{"y", "w"});
}

TEST_CASE("a model without live nodes is one stage that holds its outputs") {
  OnnxBuilder b;
  b.weight("w", {4});
  b.output("w");
  const SplitPlan plan = plan_of(b.model(), {});
  REQUIRE(plan.stages.size() == 1);
  CHECK(names_of(stage_model(b.model(), plan, 0).graph().initializer()) == Names{"w"});
}

TEST_CASE("weights that are inputs too stay inputs with a default") {
  OnnxBuilder b = pair_model();
  b.input("w", {"4"});  // as models before IR version 4 must
  b.model().set_ir_version(3);
  const SplitPlan plan = plan_of(b.model(), {0, 0, 0, 1, 1, 1});
  for (uint32_t s = 0; s < 2; ++s) {
    const onnx::ModelProto stage = stage_model(b.model(), plan, s);
    CHECK(names_of(stage.graph().input()).contains("w"));
    CHECK(names_of(stage.graph().initializer()).contains("w"));
    CHECK(std::count(plan.stages[s].inputs.begin(), plan.stages[s].inputs.end(), "w") == 0);
  }
}

TEST_CASE("models that cannot be split are refused with the reason") {
  const auto why = [](OnnxBuilder& b, const std::vector<uint32_t>& device, bool typed = true) {
    const ValueTypes types = typed ? float_types(b.model()) : ValueTypes();
    const auto plan = plan_split(b.model(), types, device, 2, StageRule::kFewest);
    CHECK_FALSE(plan.ok());
    return plan.status().message();
  };
  OnnxBuilder untyped = pair_model();
  CHECK(why(untyped, {0, 0, 0, 1, 1, 1}, false).find("type of tensor 'q'") != std::string::npos);

  OnnxBuilder backwards;
  backwards.input("x", {"4"});
  backwards.node("Neg", {"p"}, {"y"}, "late");
  backwards.node("Neg", {"x"}, {"p"}, "early");
  backwards.output("y");
  CHECK(why(backwards, {0, 1}).find("topological order") != std::string::npos);

  OnnxBuilder missing;
  missing.node("Neg", {"nowhere"}, {"y"}, "n");
  missing.output("y");
  CHECK(why(missing, {0}).find("'nowhere'") != std::string::npos);

  OnnxBuilder twice;
  twice.input("x", {"4"});
  twice.node("Neg", {"x"}, {"y"}, "one");
  twice.node("Neg", {"x"}, {"y"}, "two");
  twice.output("y");
  CHECK(why(twice, {0, 0}).find("'two'") != std::string::npos);
}

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

Placed placed_pair() {
  return {"test",
          "host",
          {"cpu:0", "gpu:0"},
          {{"a", "Clip", 0, 0},
           {"b0", "Add", 0, 0},
           {"b1", "Mul", 1, 0},
           {"b2", "Mul", 1, 0},
           {"dead", "Neg", 1, 0}}};
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

// pair_model with w in a file.
OnnxBuilder external_model(const std::string& location, const std::string& offset) {
  OnnxBuilder b = pair_model();
  auto& weight = *b.graph().mutable_initializer(0);
  weight.clear_raw_data();
  weight.set_data_location(onnx::TensorProto::EXTERNAL);
  for (const auto& [key, value] : {std::pair<std::string, std::string>{"location", location},
                                   {"offset", offset},
                                   {"length", "16"}}) {
    auto* entry = weight.add_external_data();
    entry->set_key(key);
    entry->set_value(value);
  }
  return b;
}

TEST_CASE("each stage gets a file with the external data that it reads") {
  const Folder folder;
  fs::create_directory(folder.path("data"));
  folder.write("data/w.bin", "--0123456789abcdef--");
  folder.write("m.onnx", external_model("data/w.bin", "2").bytes());
  auto model = PlacedModel::read(folder.path("m.onnx"), placed_pair());
  REQUIRE_MESSAGE(model.ok(), model.status().message());
  const auto summary = model->write_stages(folder.path("out"), StageRule::kFewest);
  REQUIRE_MESSAGE(summary.ok(), summary.status().message());
  for (const std::string stage : {"stage_0.onnx", "stage_1.onnx"}) {
    CHECK(folder.read("out/" + stage + ".data") == "0123456789abcdef");
    onnx::ModelProto proto;
    REQUIRE(proto.ParseFromString(folder.read("out/" + stage)));
    CHECK(proto.graph().initializer(0).external_data(0).value() == stage + ".data");
  }
  const std::vector<std::string> engine = {"cpu", "gpu"};
  CHECK_FALSE(model->write_annotated(folder.path("out/a.onnx"), engine).ok());
  CHECK(model->write_annotated(folder.path("a.onnx"), engine).ok());
}

TEST_CASE(
    "external data outside of the folder or beyond its file is refused, and nothing is left") {
  const Folder folder;
  folder.write("w.bin", "0123456789abcdef");
  for (const auto& [location, offset] : {std::pair<std::string, std::string>{"../w.bin", "0"},
                                         {"/etc/passwd", "0"},
                                         {"w.bin", "1"},
                                         {"w.bin", "-1"},
                                         {"none.bin", "0"},
                                         {"w.bin", "18446744073709551615"}}) {
    folder.write("m.onnx", external_model(location, offset).bytes());
    const auto model = PlacedModel::read(folder.path("m.onnx"), placed_pair());
    REQUIRE_MESSAGE(model.ok(), model.status().message());
    CHECK_FALSE(model->write_stages(folder.path("out"), StageRule::kFewest).ok());
    CHECK(folder.size() == 2);
  }
}

// w is split among so many tensors, each `length` bytes from `offset`.
std::string sharing_model(int tensors, const std::string& location) {
  OnnxBuilder b = external_model(location, "0");
  auto& graph = b.graph();
  for (int i = 0; i < tensors; ++i) {
    onnx::TensorProto copy = graph.initializer(0);
    const std::string name = "w" + std::to_string(i);
    copy.set_name(name);
    copy.mutable_external_data(1)->set_value(std::to_string(i % 3));  // offset
    copy.mutable_external_data(2)->set_value("14");
    copy.set_dims(0, 14);
    *graph.add_initializer() = copy;
    for (auto& node : *graph.mutable_node()) {
      if (node.name() == "b1") node.add_input(name);
    }
  }
  return b.bytes();
}

TEST_CASE("a link that leads out of the model's folder is refused, and one within is followed") {
  const Folder folder, outside;
  outside.write("secret", "0123456789abcdef");
  folder.write("real.bin", "0123456789abcdef");
  fs::create_symlink(outside.path("secret"), folder.path("w.bin"));
  folder.write("m.onnx", external_model("w.bin", "0").bytes());
  const auto model = PlacedModel::read(folder.path("m.onnx"), placed_pair());
  REQUIRE_MESSAGE(model.ok(), model.status().message());
  const auto refused = model->write_stages(folder.path("out"), StageRule::kFewest);
  CHECK(refused.status().message().find("symbolic link") != std::string::npos);
  CHECK(folder.size() == 3);
  fs::remove(folder.path("w.bin"));
  fs::create_symlink("real.bin", folder.path("w.bin"));
  CHECK(model->write_stages(folder.path("out"), StageRule::kFewest).ok());
}

TEST_CASE("a cache that links to a folder with model and weights exports") {
  const Folder cache, links;
  cache.write("1234", external_model("w.bin", "0").bytes());
  cache.write("5678", "0123456789abcdef");
  fs::create_symlink(cache.path("1234"), links.path("m.onnx"));
  fs::create_symlink(cache.path("5678"), links.path("w.bin"));
  const auto model = PlacedModel::read(links.path("m.onnx"), placed_pair());
  REQUIRE_MESSAGE(model.ok(), model.status().message());
  CHECK(model->write_stages(links.path("out"), StageRule::kFewest).ok());
}

TEST_CASE("tensors that share bytes are copied once, and overlapping ones are bounded") {
  const Folder folder;
  folder.write("w.bin", "0123456789abcdef");
  folder.write("shared.onnx", sharing_model(2, "w.bin"));
  const auto shared = PlacedModel::read(folder.path("shared.onnx"), placed_pair());
  REQUIRE_MESSAGE(shared.ok(), shared.status().message());
  const auto refused = shared->write_stages(folder.path("none"), StageRule::kFewest);
  CHECK(refused.status().message().find("do not overlap") != std::string::npos);
  CHECK(!fs::exists(folder.path("none")));
  // The same 14 bytes a thousand times, in a file that has room for another 16.
  folder.write("w.bin", std::string(60, 'w'));
  folder.write("often.onnx", sharing_model(1000, "w.bin"));
  const auto often = PlacedModel::read(folder.path("often.onnx"), placed_pair());
  REQUIRE_MESSAGE(often.ok(), often.status().message());
  const auto written = often->write_stages(folder.path("out"), StageRule::kFewest);
  REQUIRE_MESSAGE(written.ok(), written.status().message());
  CHECK(fs::file_size(folder.path("out/stage_1.onnx.data")) < 5 * 4096);
  CHECK(fs::file_size(folder.path("out/stage_1.onnx.data")) > 4096);
}

TEST_CASE("what a killed export left behind is removed, and what another writes is not") {
  const Folder folder;
  folder.write("m.onnx", pair_model().bytes());
  fs::create_directories(folder.path("out.partial-aBcDeF"));
  folder.write("out.partial-aBcDeF/stage_0.onnx", "half");
  fs::create_directories(folder.path("out.partial-not"));  // somebody else's name
  const auto other = NewDirectory::create(folder.path("out"));
  REQUIRE(other.ok());
  CHECK(!fs::exists(folder.path("out.partial-aBcDeF")));
  const auto model = PlacedModel::read(folder.path("m.onnx"), placed_pair());
  REQUIRE_MESSAGE(model.ok(), model.status().message());
  CHECK(model->write_stages(folder.path("out"), StageRule::kFewest).ok());
  CHECK(fs::exists(other->file("")));
  CHECK(fs::exists(folder.path("out.partial-not")));
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
