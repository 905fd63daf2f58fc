// Split models run by the real engine, in memory that sessions share.
#include <doctest/doctest.h>

#include <array>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "runtime/base/random.h"
#include "tests/support/compare_outputs.h"
#include "tests/support/folder.h"
#include "tests/support/onnx_models.h"
#include "tests/support/split_diamond.h"
#include "tests/support/written_split.h"
#include "tools/engine/compare_outputs.h"
#include "tools/engine/manifest_dims.h"
#include "tools/engine/measure_run.h"
#include "tools/engine/model_inputs.h"
#include "tools/engine/runner.h"
#include "tools/export/onnx_export.h"

namespace placeto {
namespace {

namespace fs = std::filesystem;
using test::compare_outputs;
using test::diamond;
using test::Folder;
using test::OnnxBuilder;
using Scene = test::SplitDiamond;

std::unique_ptr<Runner> open(const std::string& path, SessionSettings settings) {
  auto runner = Runner::open(path, settings);
  REQUIRE_MESSAGE(runner.ok(), runner.status().message());
  REQUIRE(fill_model_inputs((*runner)->model(), {}).ok());
  const Status started = (*runner)->start();
  REQUIRE_MESSAGE(started.ok(), started.message());
  return *std::move(runner);
}

void run_once(Runner& runner, uint32_t slot) {
  runner.workers().submit(slot);
  REQUIRE(runner.workers().wait(slot).ok());
}

TEST_CASE("stages on two devices give what the whole model gives") {
  const Scene scene("4");
  const auto whole = open(scene.model, {});
  const auto split = open(scene.stages, {.slots = 2});
  CHECK(split->manifest().stages.size() >= 3);
  CHECK(split->model().all_bound());
  const auto first = keep_outputs(split->model());  // of the run that prepared it
  REQUIRE(first.ok());
  run_once(*whole, 0);
  run_once(*split, 0);
  CHECK(worst_of(*output_deviations(split->model(), *first)).deviation == 0);
  const auto deviation = compare_outputs(split->model(), whole->model());
  REQUIRE(deviation.ok());
  CHECK(*deviation < 1e-6);
  CHECK(split->model().tensor_bytes("y") == 4 * 8 * 4);
}

// An attention's beginning. What the engine (1.30) makes of each MatMul and Add has a name that it
// gives again, to another, when it reads what it saved.
std::string attention(const Folder& folder) {
  OnnxBuilder b;
  for (const char* input : {"x", "attended", "normalized"}) b.input(input, {"1", "4", "8"});
  const auto linear = [&](const std::string& from, const std::string& to, int64_t width) {
    b.weight(to + "_weight", {8, width});
    b.weight(to + "_bias", {width});
    b.node("MatMul", {from, to + "_weight"}, {to + "_product"}, to + "_product");
    b.node("Add", {to + "_bias", to + "_product"}, {to}, to);
    b.output(to);
  };
  b.weight("scale", {8});
  b.weight("shift", {8});
  b.node("LayerNormalization", {"x", "scale", "shift"}, {"norm"}, "norm");
  linear("norm", "query", 8);
  for (const std::string other : {"key", "value"}) {
    b.weight(other + "_weight", {8, 8});
    b.node("MatMul", {"norm", other + "_weight"}, {other}, other);
    b.output(other);
  }
  b.weight("bias", {8});
  b.node("Add", {"bias", "attended"}, {"biased"}, "biased");
  b.node("Add", {"biased", "norm"}, {"sum"}, "sum");
  b.output("sum");
  linear("normalized", "wide", 32);
  folder.write("attention.onnx", b.bytes());
  return folder.path("attention.onnx");
}

TEST_CASE("a model that is saved for every provider can be opened and saved again") {
  const Folder folder;
  const std::string first = folder.path("first.onnx"), second = folder.path("second.onnx");
  const Status saved = save_optimized(attention(folder), first, "", false, {});
  REQUIRE_MESSAGE(saved.ok(), saved.message());
  const Status again = save_optimized(first, second, "", true, {});
  CHECK_MESSAGE(again.ok(), again.message());
}

TEST_CASE("stages of every rule give what the whole model gives") {
  constexpr uint32_t kNodes = 24, kDevices = 3;
  Random random(5);
  for (int i = 0; i < 3; ++i) {
    OnnxBuilder b;
    b.input("v0", {"4"});
    PlacementSpec placement;
    placement.devices = {"cpu:0", "cpu:1", "cpu:2"};
    for (uint32_t v = 1; v <= kNodes; ++v) {
      const auto any = [&] { return "v" + std::to_string(random.below(v)); };
      const std::string name = "v" + std::to_string(v);
      if (random.below(2) == 0) {
        b.node("Sin", {any()}, {name}, name);
      } else {
        b.node("Add", {any(), any()}, {name}, name);
      }
      placement.assignment.push_back(random.below(kDevices));
    }
    const std::string last = "v" + std::to_string(kNodes);
    OnnxBuilder::set_type(*b.graph().add_output(), last, {"4"});
    for (const StageRule rule : kStageRules) {
      const Folder folder;
      const auto written = test::write_split(folder, b, placement, rule);
      const auto whole = open(written.model, {}), split = open(written.stages, {});
      run_once(*whole, 0);
      run_once(*split, 0);
      const auto deviation = compare_outputs(split->model(), whole->model());
      REQUIRE(deviation.ok());
      CHECK(*deviation < 1e-5);
    }
  }
}

TEST_CASE("stages are not compared with a model that has other outputs") {
  const Scene scene("4");
  OnnxBuilder other = diamond("4");
  other.node("Neg", {"y"}, {"z"}, "neg");
  const auto save = [&](const std::string& name) {
    std::ofstream(scene.folder.path(name), std::ios::binary) << other.bytes();
    return scene.folder.path(name);
  };
  OnnxBuilder::set_type(*other.graph().add_output(), "z", {"4", "8"});
  const auto more = open(save("more.onnx"), {});
  other.graph().mutable_output()->DeleteSubrange(0, 1);
  const auto unlike = open(save("unlike.onnx"), {});
  const auto split = open(scene.stages, {});
  const auto said = [&](Runner& actual, Runner& expected) {
    const auto compared = compare_outputs(actual.model(), expected.model());
    REQUIRE(!compared.ok());
    CHECK(compared.status().code() == StatusCode::kBadInput);
    return compared.status().message();
  };
  CHECK(said(*split, *more).find("they lack its outputs 'z'") != std::string::npos);
  CHECK(said(*more, *split).find("it lacks their outputs 'z'") != std::string::npos);
  CHECK(said(*split, *unlike).find("outputs 'z', and it lacks their outputs 'y'") !=
        std::string::npos);
}

// What is said of the stages where the file of stage `s` holds another model.
std::string refusal_with(const Scene& scene, size_t s, OnnxBuilder other) {
  scene.folder.write("stages/stage_" + std::to_string(s) + ".onnx", other.bytes());
  const auto opened = Runner::open(scene.stages, {});
  REQUIRE(!opened.ok());
  CHECK(opened.status().code() == StatusCode::kBadInput);
  return opened.status().message();
}

// A model of one operator with one output.
OnnxBuilder one_node(const char* op, const std::vector<std::string>& inputs,
                     const std::string& output) {
  OnnxBuilder b;
  for (const std::string& input : inputs) b.input(input, {"4", "8"});
  b.node(op, inputs, {output}, "only");
  OnnxBuilder::set_type(*b.graph().add_output(), output, {"4", "8"});
  return b;
}

TEST_CASE("a stage whose file reads what the manifest does not list for it is refused") {
  // The stages of the diamond: x - [0: c], x - [1: b], and [2: y] of both.
  CHECK(refusal_with(Scene("4"), 0, one_node("Add", {"x", "nobody"}, "c"))
            .find("stage_0.onnx: reads 'nobody', which the manifest does not list") !=
        std::string::npos);
  CHECK(refusal_with(Scene("4"), 0, one_node("Add", {"x", "y"}, "c")).find("reads 'y'") !=
        std::string::npos);
  // It would not wait for the other device.
  CHECK(refusal_with(Scene("4"), 1, one_node("Add", {"x", "c"}, "b")).find("reads 'c'") !=
        std::string::npos);
}

TEST_CASE("a stage whose file does not make what the manifest lists for it is refused") {
  CHECK(refusal_with(Scene("4"), 0, one_node("Relu", {"x"}, "else"))
            .find("stage_0.onnx: does not make 'c', which the manifest lists") !=
        std::string::npos);
}

TEST_CASE("what a stage's file makes beside what the manifest lists is left there") {
  const Scene scene("4");
  OnnxBuilder more = one_node("Sigmoid", {"x"}, "b");
  more.node("Relu", {"x"}, {"c"}, "again");  // of another stage
  OnnxBuilder::set_type(*more.graph().add_output(), "c", {"4", "8"});
  scene.folder.write("stages/stage_1.onnx", more.bytes());
  const auto split = open(scene.stages, {}), whole = open(scene.model, {});
  run_once(*split, 0);
  run_once(*whole, 0);
  CHECK(*compare_outputs(split->model(), whole->model()) < 1e-6);
}

TEST_CASE("an input that a model hands through is its output, in the caller's memory") {
  OnnxBuilder b = one_node("Relu", {"x"}, "y");
  OnnxBuilder::set_type(*b.graph().add_output(), "x", {"4", "8"});
  const Folder folder;
  folder.write("model.onnx", b.bytes());
  auto opened = Runner::open(folder.path("model.onnx"), {.slots = 2});
  REQUIRE_MESSAGE(opened.ok(), opened.status().message());
  Runner& runner = **opened;
  const auto x = runner.model().input(0, 0);
  REQUIRE(fill_value(Element::kFloat, 3, x).ok());
  REQUIRE(runner.start().ok());
  CHECK(runner.model().input(0, 0).data() == x.data());
  for (const uint32_t slot : {0u, 1u}) {
    run_once(runner, slot);
    for (const size_t output : {0u, 1u}) {
      float value = 0;
      std::memcpy(&value, runner.model().output(slot, output)->bytes.data(), sizeof value);
      CHECK(value == 3);
    }
  }
}

TEST_CASE("an input that no stage reads can be given, and handed through") {
  OnnxBuilder b = diamond("n");
  b.input("z", {"n", "4"}, onnx::TensorProto::INT64);
  OnnxBuilder::set_type(*b.graph().add_output(), "z", {"n", "4"}, onnx::TensorProto::INT64);
  b.input("other", {"m"});  // nobody has to say how long it is
  const Folder folder;
  PlacementSpec placement;
  placement.devices = {"cpu:0", "cpu:1"};
  placement.assignment = {0, 0, 1, 0};
  const auto written = test::write_split(folder, b, placement, StageRule::kOverlap);
  auto opened = Runner::open(written.stages, {.slots = 2, .dims = {{"n", 2}}});
  REQUIRE_MESSAGE(opened.ok(), opened.status().message());
  StagedModel& model = (*opened)->model();
  const Status given = fill_model_inputs(model, {{"z", "7"}});
  REQUIRE_MESSAGE(given.ok(), given.message());
  REQUIRE((*opened)->start().ok());
  CHECK(model.inputs().size() == 2);
  for (const uint32_t slot : {0u, 1u}) {
    run_once(**opened, slot);
    const auto z = model.output(slot, 1);
    REQUIRE_MESSAGE(z.ok(), z.status().message());
    CHECK(z->shape == std::vector<int64_t>{2, 4});
    int64_t last = 0;
    std::memcpy(&last, z->bytes.data() + 7 * sizeof last, sizeof last);
    CHECK(last == 7);
  }
}

TEST_CASE("an input that no stage reads ends as any does that finds no memory") {
  OnnxBuilder b = diamond("2");
  b.input("z", {"5"});
  const Folder folder;
  PlacementSpec placement;
  placement.devices = {"cpu:0", "cpu:1"};
  placement.assignment = {0, 0, 1, 0};
  const auto written = test::write_split(folder, b, placement, StageRule::kOverlap);
  const std::string path = written.stages + "/manifest.json";
  auto manifest = nlohmann::json::parse(std::ifstream(path));
  for (auto& input : manifest["inputs"]) {
    if (input["name"] == "z") input["shape"] = {INT64_MAX};
  }
  std::ofstream(path) << manifest;
  CHECK_THROWS_AS((void)Runner::open(written.stages, {}), std::bad_alloc);
}

TEST_CASE("tensors whose shapes are not known before the run pass without memory of ours") {
  const Scene scene("n");
  SessionSettings settings;
  settings.dims = {{"x[0]", 5}};  // by position: the engine is not told the axis's name
  settings.slots = 2;
  const auto split = open(scene.stages, settings);
  settings.slots = 1;
  const auto whole = open(scene.model, settings);
  CHECK_FALSE(split->model().all_bound());
  for (int i = 0; i < 3; ++i) run_once(*split, 0), run_once(*split, 1);
  run_once(*whole, 0);
  const auto deviation = compare_outputs(split->model(), whole->model());
  REQUIRE(deviation.ok());
  CHECK(*deviation < 1e-6);
  CHECK(split->model().output(1, 0)->shape == std::vector<int64_t>{5, 8});
}

TEST_CASE("an optional without a value that passes between stages is refused") {
  OnnxBuilder b(18);
  OnnxBuilder::set_type(*b.graph().add_input(), "x", {"4"});
  auto* type = b.node("Optional", {}, {"o"}, "none").add_attribute();
  type->set_name("type");
  type->set_type(onnx::AttributeProto::TYPE_PROTO);
  type->mutable_tp()->mutable_tensor_type()->set_elem_type(onnx::TensorProto::FLOAT);
  b.node("OptionalHasElement", {"o"}, {"has"}, "has");
  b.node("Relu", {"x"}, {"y"}, "relu");
  for (const char* name : {"has", "y"}) b.output(name);
  PlacementSpec placement;
  placement.devices = {"cpu:0", "cpu:1"};
  placement.assignment = {0, 1, 1};
  const Folder folder;
  const auto split = test::write_split(folder, b, placement, StageRule::kFewest);
  const auto whole = open(split.model, {});
  run_once(*whole, 0);
  const auto runner = Runner::open(split.stages, {});
  REQUIRE_MESSAGE(runner.ok(), runner.status().message());
  REQUIRE(fill_model_inputs((*runner)->model(), {}).ok());
  const Status started = (*runner)->start();
  CHECK(started.code() == StatusCode::kBadInput);
  CHECK(started.message().find("reads 'o', an optional without a value") != std::string::npos);
}

TEST_CASE("a manifest tells the axes that are free") {
  const Scene scene("n");
  const std::string path = scene.stages + "/manifest.json";
  std::string directory;
  Manifest manifest = *read_manifest(path, directory);
  for (const char* name : {"n", "x[0]", "*"})
    CHECK_MESSAGE(ManifestDims(manifest).may_have(name), name);
  for (const char* name : {"m", "x[1]", "x", "x[0]]", "y[0]", ""}) {
    CHECK_FALSE_MESSAGE(ManifestDims(manifest).may_have(name), name);
  }
  auto edited = nlohmann::json::parse(std::ifstream(path));
  edited["inputs"][0]["shape"][0] = -1;  // as ONNX may write it
  manifest = *parse_manifest(edited.dump());
  CHECK(ManifestDims(manifest).may_have("x[0]"));
  CHECK_FALSE(ManifestDims(manifest).may_have("n"));
  edited["inputs"][0].erase("shape");
  manifest = *parse_manifest(edited.dump());
  CHECK(ManifestDims(manifest).may_have("m"));  // nobody knows
}

TEST_CASE("a manifest tells the numbers that it was placed with") {
  const Scene scene("n");
  std::string text;
  std::getline(std::ifstream(scene.stages + "/manifest.json"), text, '\0');
  const auto with = [&](const std::string& dims) {
    return parse_manifest("{\"dims\": " + dims + "," + text.substr(text.find('{') + 1));
  };
  CHECK(with(R"({"n": 7})")->dims[0].value == 7);
  CHECK(with(R"({"n": 0})").status().message().find("manifest.dims.n") != std::string::npos);
  CHECK_FALSE(with("[7]").ok());
}

// y = x * factor, where the factor is an input that the stages do not have.
TEST_CASE("the whole model gets the values that the stages were made with") {
  OnnxBuilder b;
  b.input("x", {"2", "2"});
  b.input("factor", {"2"});
  b.input("negate", {"1"}, onnx::TensorProto::BOOL);
  b.node("Neg", {"x"}, {"n"}, "neg");
  b.node("Where", {"negate", "n", "x"}, {"w"}, "where");
  b.node("Mul", {"w", "factor"}, {"y"}, "mul");
  OnnxBuilder::set_type(*b.graph().add_output(), "y", {"2", "2"});
  const Folder folder;
  const std::string model = folder.path("model.onnx"), stages = folder.path("stages");
  std::ofstream(model, std::ios::binary) << b.bytes();
  ModelSettings settings;
  settings.inputs = {{"factor", {2, 0.5}}, {"negate", {1}}};
  PlacementSpec placement;
  placement.devices = {"cpu:0", "cpu:1"};
  placement.assignment = {0, 0, 1};
  const auto placed = placed_model(model, placement, settings);
  REQUIRE_MESSAGE(placed.ok(), placed.status().message());
  const auto read = PlacedModel::read(model, *placed, settings);
  REQUIRE_MESSAGE(read.ok(), read.status().message());
  REQUIRE(read->write_stages(stages, StageRule::kFewest).ok());
  const auto manifest = nlohmann::json::parse(std::ifstream(stages + "/manifest.json"));
  CHECK(manifest["set"] == nlohmann::json{{"factor", "2,0.5"}, {"negate", "true"}});

  const auto split = open(stages, {}), whole = open(model, {});
  run_once(*split, 0);
  run_once(*whole, 0);
  CHECK(*compare_outputs(split->model(), whole->model()) > 1e-3);
  REQUIRE(fill_set_inputs(whole->model(), split->manifest().set).ok());
  run_once(*whole, 0);
  CHECK(*compare_outputs(split->model(), whole->model()) < 1e-6);
  CHECK(fill_set_inputs(whole->model(), std::vector<InputSetting>{{"factor", {1, 2, 3}}})
            .message()
            .find("'factor' was set to 3 numbers, and the model has 2") != std::string::npos);
}

// y = negate ? -x : x
TEST_CASE("inputs are given as files, numbers, true or false, and as nothing else") {
  OnnxBuilder b;
  b.input("x", {"2"});
  b.input("negate", {"1"}, onnx::TensorProto::BOOL);
  b.node("Neg", {"x"}, {"n"}, "neg");
  b.node("Where", {"negate", "n", "x"}, {"y"}, "where");
  OnnxBuilder::set_type(*b.graph().add_output(), "y", {"2"});
  const Folder folder;
  const std::string file = folder.path("model.onnx");
  std::ofstream(file, std::ios::binary) << b.bytes();
  const auto runner = open(file, {});
  const auto give = [&](const std::string& text) {
    const auto negate = parse_given_input(text);
    REQUIRE(negate.ok());
    return fill_model_inputs(runner->model(), {GivenInput{"x", "1.5"}, *negate});
  };
  const auto result = [&](const std::string& text) {
    const Status given = give(text);
    REQUIRE_MESSAGE(given.ok(), given.message());
    run_once(*runner, 0);
    std::array<float, 2> y{};
    const auto output = runner->model().output(0, 0);
    REQUIRE(output.ok());
    std::memcpy(y.data(), output->bytes.data(), sizeof y);
    CHECK(y[0] == y[1]);
    return y[0];
  };
  CHECK(result("negate=true") == -1.5f);
  CHECK(result("negate=false") == 1.5f);
  CHECK(result("negate=1") == -1.5f);
  CHECK(give("negate=2").message() == "input 'negate': 2 is no bool");
  CHECK(give("negate=flase").message() ==
        "input 'negate': neither a number, true or false, nor a file that can be read: flase: "
        "cannot open: No such file or directory");
  CHECK(give("nagete=true").message() == "the model has no input 'nagete'");
}

TEST_CASE("slots keep the tensors of their own requests") {
  const Scene scene("4");
  const auto split = open(scene.stages, {.slots = 2});
  const auto other = split->model().input(1, 0);
  REQUIRE(fill_value(Element::kFloat, 3, other).ok());
  split->workers().submit(0);
  split->workers().submit(1);
  REQUIRE(split->workers().wait(0).ok());
  REQUIRE(split->workers().wait(1).ok());
  float second = 0;
  std::memcpy(&second, split->model().output(1, 0)->bytes.data(), sizeof second);
  CHECK(second == doctest::Approx(std::tanh(3.0) + 1 / (1 + std::exp(-3.0))));
  float first = 0;
  std::memcpy(&first, split->model().output(0, 0)->bytes.data(), sizeof first);
  CHECK(first < second);
}

TEST_CASE("runs are measured beside the whole model") {
  const Scene scene("4");
  const auto whole = open(scene.model, {});
  const auto split = open(scene.stages, {.slots = 2});
  const auto latency = measure_latency(split->workers(), &whole->model(), 5, 1);
  REQUIRE(latency.ok());
  CHECK(latency->latency_us.size() == 5);
  CHECK(over_whole(latency->latency_us, latency->whole_us).size() == 5);
  Workers* const replicas[] = {&split->workers(), &whole->workers()};
  const auto stream = measure_stream(replicas, &whole->model(), 2, 7);
  REQUIRE(stream.ok());
  CHECK(stream->request_us.size() == 2);
  Workers* const one[] = {&whole->workers()};
  CHECK(measure_stream(one, nullptr, 3, 5)->request_us.size() == 3);
  CHECK(requests_of_batch(4, 0) == 12);
  CHECK(requests_of_batch(4, 100) == 100);
  CHECK(requests_of_batch(4, 0.1) == 1000);
  CHECK(requests_of_batch(4, 100, 7'000) == 100);     // within a second
  CHECK(requests_of_batch(4, 100, 50'000) == 20);     // a slow device beside a fast one
  CHECK(requests_of_batch(4, 100, 5'000'000) == 12);  // but three for each in flight
  CHECK(requests_of_batch(4, 1e6) == 12);
}

TEST_CASE("what the engine or the caller lacks is said with its name") {
  const Scene scene("n");
  const auto unset = Runner::open(scene.model, {});
  REQUIRE(!unset.ok());
  CHECK(unset.status().message().find("dimension setting 'n=N'") != std::string::npos);
  const auto provider = Runner::open(scene.model, {.providers = {"teapot"}, .dims = {{"n", 1}}});
  REQUIRE(!provider.ok());
  CHECK(provider.status().message().find("no provider 'teapot', it has ") != std::string::npos);
  CHECK(provider.status().message().ends_with("cpu"));  // which it lists last
  for (const char* name : {"CPU", "CPUExecutionProvider"}) {
    CHECK(Runner::open(scene.model, {.providers = {name}, .dims = {{"n", 1}}}).ok());
  }
  // Built into the engine from npm, without the libraries that it would need here.
  const auto cuda = Runner::open(scene.model, {.providers = {"cuda"}, .dims = {{"n", 1}}});
  if (!cuda.ok()) {
    CHECK(cuda.status().code() == StatusCode::kInvalidArgument);
    CHECK(cuda.status().message().find("provider 'cuda'") != std::string::npos);
  }
  std::ofstream(scene.folder.path("broken.onnx")) << "no model";
  const auto broken = Runner::open(scene.folder.path("broken.onnx"), {});
  REQUIRE(!broken.ok());
  CHECK(broken.status().message().find("broken.onnx") != std::string::npos);
}

}  // namespace
}  // namespace placeto
