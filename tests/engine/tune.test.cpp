// The loop, the machine it is for, and the server that keeps its plan: with the real engine.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "tests/engine/output_of.h"
#include "tests/support/compare_outputs.h"
#include "tests/support/folder.h"
#include "tests/support/onnx_models.h"
#include "tools/engine/model_inputs.h"
#include "tools/engine/runner.h"
#include "tools/engine/tuned_choice.h"
#include "tools/io/read.h"
#include "tools/io/write.h"
#include "tools/machine/machine.h"
#include "tools/tune/tune.h"

namespace placeto {
namespace {

namespace fs = std::filesystem;
using test::compare_outputs;
using test::Folder;
using test::OnnxBuilder;
using test::output_of;

// Two branches of products, joined at the end.
//
//        / product - product \.
//   x --                      add - y
//        \ product - product /
std::string write_model(const Folder& folder) {
  OnnxBuilder b;
  b.input("x", {"n", "256"});
  for (const std::string branch : {"a", "b"}) {
    for (int i = 0; i < 2; ++i) {
      const std::string name = branch + std::to_string(i);
      b.weight("w" + name, {256, 256});
      const std::string from = i == 0 ? "x" : branch + std::to_string(i - 1);
      b.node("MatMul", {from, "w" + name}, {name}, "product_" + name);
    }
  }
  b.node("Add", {"a1", "b1"}, {"y"}, "add");
  OnnxBuilder::set_type(*b.graph().add_output(), "y", {"n", "256"});
  const std::string path = folder.path("model.onnx");
  std::ofstream(path, std::ios::binary) << b.bytes();
  return path;
}

TopologySpec two_workers() {
  TopologySpec machine;
  machine.name = "two workers";
  machine.execution = Execution::kStaged;
  machine.transfer = Transfer::kUnicast;
  for (const char* name : {"cpu:0", "cpu:1"}) {
    DeviceSpec device;
    device.name = name;
    device.kind = "cpu";
    machine.devices.push_back(device);
  }
  machine.default_link = {1e6, 5, 0};
  return machine;
}

TuneOptions quick(const Folder& folder) {
  TuneOptions options;
  options.model = write_model(folder);
  options.directory = folder.path("tuned");
  options.dims = {{"n", 64}};
  options.providers = {"cpu", "cpu"};
  options.runs = 3;
  options.rounds = 2;
  options.evaluations = 50;
  return options;
}

TEST_CASE("tune hands out a plan that runs, and says what it measured") {
  const Folder folder;
  const auto machine = Topology::build(two_workers());
  REQUIRE(machine.ok());
  const TuneOptions options = quick(folder);
  const auto result = tune(*machine, options);
  REQUIRE_MESSAGE(result.ok(), result.status().message());
  CHECK(folder.size() == 2);  // the model and what is handed out
  const auto report = nlohmann::json::parse(std::ifstream(folder.path("tuned/tune.json")));
  CHECK(report["why"] == result->why);
  CHECK(report["contenders"].size() == result->contenders.size());
  bool one_device = false, engine = false;
  for (const Contender& c : result->contenders) {
    one_device = one_device || (c.way == Contender::Way::kPlaced && c.stages == 1);
    engine = engine || c.way == Contender::Way::kEngine;
    CHECK(c.over_whole > 0);
    REQUIRE(c.output);
    CHECK(c.output->name == "y");
    CHECK(!c.deviates());
  }
  CHECK(one_device);
  CHECK(engine);
  const auto placement = nlohmann::json::parse(std::ifstream(folder.path("tuned/placement.json")));
  const std::string simulate = "cd " + folder.path("tuned") +
                               " && " PLACETO_CLI
                               " simulate graph.bin -t machine.json -p placement.json --json";
  const auto simulated = nlohmann::json::parse(output_of(simulate + " --engine none"));
  if (placement.contains("makespan_us")) {
    CHECK(simulated["makespan_us"] == doctest::Approx(double{placement["makespan_us"]}));
  }
  CHECK(simulated["note"] == "");
  const auto choice = read_choice(options.directory);
  REQUIRE(choice.ok());
  CHECK(choice->threads == result->contenders[result->chosen].threads);
  SessionSettings settings;
  settings.dims = options.dims;
  auto runner = Runner::open(options.directory, settings);
  REQUIRE_MESSAGE(runner.ok(), runner.status().message());
  REQUIRE(fill_model_inputs((*runner)->model(), {}).ok());
  REQUIRE((*runner)->start().ok());
  (*runner)->workers().submit(0);
  CHECK((*runner)->workers().wait(0).ok());
  // The cost model has no word for threads of the engine's own.
  const Contender::Way way = result->contenders[result->chosen].way;
  const bool predicted = way == Contender::Way::kPlaced || way == Contender::Way::kReplicas;
  CHECK(((*runner)->manifest().predicted_whole_us > 0) == predicted);
}

// y = x * w if `twice` is not set, which reads `past`, too, else 2 x.
TEST_CASE("an input that is set decides the branch that is tuned, and is no input of the result") {
  OnnxBuilder b;
  b.input("x", {"64", "64"});
  b.input("twice", {"1"}, onnx::TensorProto::BOOL);
  b.input("past", {"length", "64"});
  b.weight("w", {64, 64});
  auto& choice = b.node("If", {"twice"}, {"r"}, "choice");
  for (const bool twice : {true, false}) {
    onnx::GraphProto& branch = OnnxBuilder::body(choice, twice ? "then_branch" : "else_branch");
    const std::string result = twice ? "doubled" : "product";
    if (!twice) b.add_node(branch, "MatMul", {"past", "w"}, {"ignored"}, "ignored");
    b.add_node(branch, twice ? "Add" : "MatMul", {"x", twice ? "x" : "w"}, {result}, result);
    OnnxBuilder::set_type(*branch.add_output(), result, {"64", "64"});
  }
  b.node("Relu", {"r"}, {"y"}, "relu");
  OnnxBuilder::set_type(*b.graph().add_output(), "y", {"64", "64"});
  const Folder folder;
  TuneOptions options = quick(folder);
  std::ofstream(options.model, std::ios::binary) << b.bytes();
  options.dims.clear();
  options.set = {{"twice", {1}}};
  const auto result = tune(*Topology::build(two_workers()), options);
  REQUIRE_MESSAGE(result.ok(), result.status().message());
  const bool engine = std::ranges::any_of(result->contenders, [](const Contender& c) {
    return c.way == Contender::Way::kEngine && c.over_whole > 0;
  });
  CHECK(engine);
  for (const Contender& c : result->contenders) CHECK_MESSAGE(!c.deviates(), c.name);
  SessionSettings settings;
  settings.dims = dims_of_whole({}, options.set);  // nobody says how long the past is
  const auto tuned = *Runner::open(options.directory, {});
  const auto whole = *Runner::open(options.model, settings);
  CHECK(tuned->model().inputs().size() == 1);
  REQUIRE(tuned->manifest().set.size() == 1);
  for (Runner* runner : {tuned.get(), whole.get()}) {
    REQUIRE(fill_model_inputs(runner->model(), {}).ok());
    REQUIRE(fill_set_inputs(runner->model(), tuned->manifest().set).ok());
    REQUIRE(runner->start().ok());
    REQUIRE(runner->workers().run(0).ok());
  }
  const auto deviation = compare_outputs(tuned->model(), whole->model());
  REQUIRE_MESSAGE(deviation.ok(), deviation.status().message());
  CHECK(*deviation < 1e-6);
  const auto said =
      nlohmann::json::parse(output_of(PLACETO_CLI " run " + options.directory + " --model " +
                                      options.model + " --check --runs 3 --json"));
  CHECK(said["deviation"] < 1e-6);
  const auto y = tuned->model().output(0, 0);
  REQUIRE(y.ok());
  CHECK(std::ranges::any_of(y->bytes,
                            [](std::byte each) { return each != std::byte{0}; }));  // w is 0
}

// The weights of a model, in a file beside it.
void move_weights_out(const std::string& model) {
  onnx::ModelProto proto;
  std::ifstream in(model, std::ios::binary);
  REQUIRE(proto.ParseFromIstream(&in));
  std::ofstream weights(fs::path(model).parent_path() / "weights.bin", std::ios::binary);
  for (onnx::TensorProto& tensor : *proto.mutable_graph()->mutable_initializer()) {
    const std::pair<const char*, std::string> entries[] = {
        {"location", "weights.bin"},
        {"offset", std::to_string(weights.tellp())},
        {"length", std::to_string(tensor.raw_data().size())}};
    for (const auto& [key, value] : entries) {
      auto* entry = tensor.add_external_data();
      entry->set_key(key);
      entry->set_value(value);
    }
    weights << tensor.raw_data();
    tensor.clear_raw_data();
    tensor.set_data_location(onnx::TensorProto::EXTERNAL);
  }
  std::ofstream(model, std::ios::binary) << proto.SerializeAsString();
}

TEST_CASE("a model whose weights are in a file beside it is tuned, and so handed out") {
  const Folder folder;
  TuneOptions options = quick(folder);
  options.rounds = 1;
  move_weights_out(options.model);
  const auto result = tune(*Topology::build(two_workers()), options);
  REQUIRE_MESSAGE(result.ok(), result.status().message());
  CHECK(fs::file_size(folder.path("tuned/model.onnx")) < 256 * 256);
  SessionSettings settings;
  settings.dims = options.dims;
  for (const std::string& plan : {options.directory, folder.path("tuned/model.onnx")}) {
    const auto runner = Runner::open(plan, settings);
    REQUIRE_MESSAGE(runner.ok(), runner.status().message());
    REQUIRE(fill_model_inputs((*runner)->model(), {}).ok());
    REQUIRE((*runner)->start().ok());
    CHECK((*runner)->workers().run(0).ok());
  }
}

TEST_CASE("a device that is held to a tenth of the time is left out") {
  const Folder folder;
  TopologySpec machine = two_workers();
  machine.devices[1].slowdown = 10;
  TuneOptions options = quick(folder);
  options.share = {1, 0.1};
  const auto result = tune(*Topology::build(machine), options);
  REQUIRE_MESSAGE(result.ok(), result.status().message());
  CHECK(result->contenders[result->chosen].stages == 1);
}

TEST_CASE("one device of each kind runs the whole model, and says which it is") {
  const Folder folder;
  TuneOptions options = quick(folder);
  options.rounds = 1;
  options.finalists = 1;
  TopologySpec machine = two_workers();
  machine.devices[1].name = "other:0";
  machine.devices[1].kind = "other";
  const auto result = tune(*Topology::build(machine), options);
  REQUIRE_MESSAGE(result.ok(), result.status().message());
  for (const std::string name : {"one device (cpu:0)", "one device (other:0)"}) {
    CHECK(std::ranges::count(result->contenders, name, &Contender::name) == 1);
  }
}

TEST_CASE("where tuning fails nothing is left behind") {
  const Folder folder;
  TuneOptions options = quick(folder);
  options.dims.clear();
  const auto result = tune(*Topology::build(two_workers()), options);
  REQUIRE(!result.ok());
  CHECK_MESSAGE(result.status().message().find("dimension setting 'n=1'") != std::string::npos,
                result.status().message());
  CHECK(folder.size() == 1);
}

TEST_CASE("tune names the output that there is no room for, and leaves nothing behind") {
  const Folder folder;
  const std::string model = write_model(folder), said = folder.path("said");
  const std::string line = PLACETO_CLI " tune " + model + " -t cpu+gpu --dim n=4 --runs 3 -o " +
                           folder.path("best") + " >" + said + " 2>&1";
  CHECK(WEXITSTATUS(std::system(("ulimit -f 100; " + line).c_str())) == 4);
  const std::string text = test::bytes_of(said);
  CHECK_MESSAGE(text.ends_with("placeto: error: " + folder.path("best/model.onnx") +
                               ": cannot write: File too large\n"),
                text);
  CHECK(folder.size() == 2);
}

TEST_CASE("measuring replaces every rate and price of a processor, and says so") {
  std::vector<std::string> notes;
  MeasureOptions options;
  options.providers = {"cpu", ""};
  TopologySpec unmeasured = two_workers();
  unmeasured.execution = Execution::kParallel;
  unmeasured.links = {{"cpu:0", "cpu:1", {10, 50, 0}, ""}};
  const auto machine = measure_machine(unmeasured, options, notes);
  REQUIRE_MESSAGE(machine.ok(), machine.status().message());
  const DeviceSpec& device = machine->devices[0];
  CHECK(device.peak_flops > 1e8);
  CHECK(device.memory_bandwidth > 1e8);
  CHECK(machine->devices[0].flops_source == Source::kMeasured);
  CHECK(machine->devices[0].prices_source == Source::kMeasured);
  CHECK(machine->devices[1].flops_source == Source::kUnknown);
  CHECK(machine->default_link.source == Source::kMeasured);
  CHECK(machine->links.size() == 1);  // to a device that may be anywhere
  REQUIRE(notes.size() >= 2);         // another one where the host is busy
  CHECK(notes[0].find("cpu:1: left as it was") == 0);
  CHECK(notes[1].find("prices of stages count only where an engine is placed for") !=
        std::string::npos);
  CHECK(Topology::build(*machine).ok());
}

TEST_CASE("measuring without a temporary folder measures memory alone, and says why") {
  const Folder folder;
  const std::string machine = folder.path("machine.json"), said = folder.path("said");
  REQUIRE(write_topology(machine, two_workers()).ok());
  const std::string out = folder.path("measured.json");
  const int status = std::system(("TMPDIR=" + folder.path("none") + " " + PLACETO_CLI " measure " +
                                  machine + " -o " + out + " >" + said + " 2>&1")
                                     .c_str());
  CHECK_MESSAGE(WEXITSTATUS(status) == 0, test::bytes_of(said));
  CHECK(test::bytes_of(said).find("TMPDIR") != std::string::npos);
  const auto measured = read_topology(out);
  REQUIRE(measured.ok());
  const DeviceSpec& device = measured->spec().devices[0];
  CHECK(device.bandwidth_source == Source::kMeasured);
  CHECK(device.flops_source == Source::kUnknown);
}

TEST_CASE("measuring a machine of which nothing is here says so") {
  const Folder folder;
  const std::string said = folder.path("said");
  const std::string line = PLACETO_CLI " measure 4xk80 -o " + folder.path("m.json") + " 2>" + said;
  CHECK(WEXITSTATUS(std::system(line.c_str())) == 2);
  CHECK(test::bytes_of(said).starts_with(
      "placeto: error: nothing of this machine can be measured here: gpu:0: "));
}

TEST_CASE("measuring with a provider that is not there fails, and nothing is written") {
  const Folder folder;
  const std::string machine = folder.path("machine.json"), said = folder.path("said");
  REQUIRE(write_topology(machine, two_workers()).ok());
  const size_t files = folder.size();
  const std::string out = folder.path("measured.json");
  const int status = std::system(
      (PLACETO_CLI " measure " + machine + " -o " + out + " --provider cpu:1=abacus 2>" + said)
          .c_str());
  CHECK(WEXITSTATUS(status) == 2);
  CHECK_MESSAGE(test::bytes_of(said).find("no provider 'abacus'") != std::string::npos,
                test::bytes_of(said));
  CHECK(folder.size() == files + 1);  // what was said
}

TEST_CASE("the example server plans at its first start and opens that plan at its second") {
  const Folder folder;
  const std::string model = write_model(folder), machine = folder.path("machine.json");
  REQUIRE(write_topology(machine, two_workers()).ok());
  const std::string command =
      std::string(PLACETO_SERVE_ONNX) + " " + model + " " + machine + " " + folder.path("plans");
  const std::string first = output_of(command + " n=64"), second = output_of(command + " n=64");
  CHECK(first.find("planned: ") != std::string::npos);
  CHECK(second.find("planned: ") == std::string::npos);
  CHECK(second.find("cached plan ") != std::string::npos);
  CHECK(second.find("100 requests of 4 clients") != std::string::npos);
  const std::string other = output_of(command + " n=32");
  CHECK(other.find("new plan ") != std::string::npos);
}

TEST_CASE("the example server says when it cannot keep plans") {
  const Folder folder;
  const std::string model = write_model(folder), machine = folder.path("machine.json");
  REQUIRE(write_topology(machine, two_workers()).ok());
  for (const std::string& cache : {model, model + "/plans", std::string("/proc/plans")}) {
    const std::string said = folder.path("said");
    const int status = std::system((std::string(PLACETO_SERVE_ONNX) + " " + model + " " + machine +
                                    " " + cache + " n=64 2>" + said)
                                       .c_str());
    CHECK(WEXITSTATUS(status) == 4);
    std::string text;
    std::getline(std::ifstream(said), text);
    CHECK_MESSAGE(text.find(cache + ": cannot keep plans there: ") != std::string::npos, text);
  }
}

}  // namespace
}  // namespace placeto
