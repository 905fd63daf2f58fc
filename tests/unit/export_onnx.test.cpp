// ONNX models divided into stages: what each stage has.
#include <set>

#include "tests/unit/export_fixture.h"
#include "tools/export/split.h"

namespace placeto {
namespace {

using test::OnnxBuilder;
using test::pair_model;

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
  CHECK(plan.output_stage == std::vector<uint32_t>{0, 1, 1, 0, kFromCaller});
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

  ValueTypes lists = float_types(untyped.model());
  lists["q"].mutable_sequence_type()->mutable_elem_type()->mutable_tensor_type();
  const std::vector<uint32_t> devices = {0, 0, 0, 1, 1, 1};
  const auto untold = plan_split(untyped.model(), lists, devices, 2, StageRule::kFewest);
  CHECK(untold.status().message().find("type of tensor 'q'") != std::string::npos);

  OnnxBuilder latin = pair_model();
  for (auto& node : *latin.model().mutable_graph()->mutable_node()) {
    for (auto* names : {node.mutable_input(), node.mutable_output()}) {
      for (std::string& name : *names) name = name == "q" ? "q\xff" : name;
    }
  }
  CHECK(why(latin, {0, 0, 0, 1, 1, 1})
            .find("tensor 'q\\xff', which enters or leaves a stage, is "
                  "not UTF-8") != std::string::npos);

  OnnxBuilder backwards;
  backwards.input("x", {"4"});
  backwards.node("Neg", {"p"}, {"y"}, "late");
  backwards.node("Neg", {"x"}, {"p"}, "early");
  backwards.output("y");
  CHECK(why(backwards, {0, 1}).find("topological order") != std::string::npos);

  OnnxBuilder handed;  // back to the caller
  handed.input("x", {"4"});
  handed.node("Neg", {"x"}, {"unused"}, "n");
  handed.output("x");
  CHECK(why(handed, {0}).find("computes none of its outputs") != std::string::npos);

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

}  // namespace
}  // namespace placeto
