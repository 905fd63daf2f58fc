// A second provider beside the processor's: WebGPU on SwiftShader, a Vulkan driver that comes with
// Chromium and computes on the processor. What it says of speed is nothing; what it says of which
// nodes run where, of memory that passes between providers, and of the loop, holds for any GPU.
#include <dlfcn.h>
#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <thread>

#include "tests/engine/output_of.h"
#include "tests/support/compare_outputs.h"
#include "tests/support/folder.h"
#include "tests/support/onnx_models.h"
#include "tests/support/split_diamond.h"
#include "tests/support/written_split.h"
#include "tools/engine/model_inputs.h"
#include "tools/engine/runner.h"

namespace placeto {
namespace {

using nlohmann::json;
using test::compare_outputs;
using test::Folder;
using test::OnnxBuilder;
using test::output_of;
using test::WrittenSplit;

const std::string kChromium = "/usr/lib/chromium";
const std::string kPlaceto = "VK_ICD_FILENAMES=" + kChromium +
                             "/vk_swiftshader_icd.json LD_LIBRARY_PATH=" + kChromium +
                             " " PLACETO_CLI " ";

bool have_webgpu() {
  const auto providers = engine_providers();
  const bool listed =
      std::find(providers.begin(), providers.end(), "WebGpuExecutionProvider") != providers.end();
  const bool driver = std::filesystem::exists(kChromium + "/vk_swiftshader_icd.json") &&
                      std::filesystem::exists(kChromium + "/libvulkan.so.1");
  if (!listed || !driver) MESSAGE("no WebGPU here (Debian: chromium), or no engine with it");
  return listed && driver;
}

// x - conv - relu - (pool, on a device of its own) - flatten - fc - y
WrittenSplit split_for_gpu(const Folder& folder) {
  PlacementSpec placement;
  placement.devices = {"cpu:0", "gpu:0"};
  placement.assignment = {1, 1, 0, 0, 1};
  return test::write_split(folder, test::convolutional_model(), placement);
}

TEST_CASE("stages on a GPU and on the processor give what the whole model gives, where planned") {
  if (!have_webgpu()) return;
  const Folder folder;
  const auto [model, stages] = split_for_gpu(folder);
  const json said =
      json::parse(output_of(kPlaceto + "run " + stages + " --model " + model +
                            " --dim batch=1 --runs 3 --check --json" + " --provider gpu=webgpu"));
  CHECK(said["deviation"] < 1e-4);
  CHECK(said["stages"].size() == 3);
  output_of(kPlaceto + "run " + stages + " --dim batch=1 --runs 3 --mode latency --json" +
            " --provider gpu=webgpu --write-profiles " + folder.path("record"));
  const std::string verify = "verify " + stages + " " + folder.path("record*") + " --json";
  const json report = json::parse(output_of(kPlaceto + verify));
  CHECK(report["as_planned"] >= 3);
  CHECK(report["not_run"].empty());
  const std::string other = kPlaceto + verify + " --provider gpu=cuda >" + folder.path("said");
  CHECK(WEXITSTATUS(std::system((other + " 2>/dev/null").c_str())) == 1);
  const json differing = json::parse(folder.read("said"));
  CHECK(differing["differences"][0]["provider"] == "WebGpuExecutionProvider");
}

// As kPlaceto's variables do for a process of its own.
void load_driver() {
  REQUIRE(dlopen((kChromium + "/libvulkan.so.1").c_str(), RTLD_NOW) != nullptr);
  setenv("VK_ICD_FILENAMES", (kChromium + "/vk_swiftshader_icd.json").c_str(), 1);
}

std::unique_ptr<Runner> start_runner(const std::string& path, const SessionSettings& settings) {
  auto runner = Runner::open(path, settings);
  REQUIRE_MESSAGE(runner.ok(), runner.status().message());
  REQUIRE(fill_model_inputs((*runner)->model(), {}).ok());
  const Status started = (*runner)->start();
  REQUIRE_MESSAGE(started.ok(), started.message());
  return *std::move(runner);
}

void answer(Runner& runner, double number) {
  REQUIRE(fill_value(Element::kFloat, number, runner.model().input(0, 0)).ok());
  runner.workers().submit(0);
  REQUIRE(runner.workers().wait(0).ok());
}

TEST_CASE("a GPU computes on what each request brings") {
  if (!have_webgpu()) return;
  load_driver();
  // x - [gpu:0: a, c], x - [cpu:0: b], and [gpu:0: y] of both.
  const test::SplitDiamond scene("4");
  const auto whole = start_runner(scene.model, {});
  const auto split = start_runner(scene.stages, {.providers = {"webgpu", "cpu"}});
  CHECK(split->model().all_bound());
  for (const double number : {0.25, -1.0, 2.0}) {
    CAPTURE(number);
    answer(*whole, number);
    answer(*split, number);
    const auto deviation = compare_outputs(split->model(), whole->model());
    REQUIRE(deviation.ok());
    CHECK(*deviation < 1e-4);
  }
}

TEST_CASE("requests on one GPU from several threads take turns, and each has its own answer") {
  if (!have_webgpu()) return;
  load_driver();
  const test::SplitDiamond scene("4");
  const auto whole = start_runner(scene.model, {});
  std::vector<std::unique_ptr<Runner>> replicas;
  for (int i = 0; i < 3; ++i) {
    replicas.push_back(start_runner(scene.stages, {.providers = {"webgpu", "webgpu"}}));
  }
  for (const double number : {0.25, -1.0, 2.0, 0.5}) {
    CAPTURE(number);
    answer(*whole, number);
    std::vector<std::thread> threads;
    for (auto& replica : replicas) {
      threads.emplace_back([&] {
        for (int i = 0; i < 10; ++i) answer(*replica, number);
      });
    }
    for (std::thread& thread : threads) thread.join();
    for (const auto& replica : replicas) {
      const auto deviation = compare_outputs(replica->model(), whole->model());
      REQUIRE(deviation.ok());
      CHECK(*deviation < 1e-4);
    }
  }
}

TEST_CASE("a model that cannot be opened on a GPU leaves one that runs there alone") {
  if (!have_webgpu()) return;
  load_driver();
  const test::SplitDiamond scene("4"), nameless("n");  // nobody says how much n is
  const SessionSettings settings{.providers = {"webgpu", "webgpu"}};
  const auto runs = start_runner(scene.stages, settings);
  std::atomic<bool> done = false;
  std::thread opens([&] {
    while (!done) CHECK_FALSE(Runner::open(nameless.stages, settings).ok());
  });
  for (int i = 0; i < 100; ++i) answer(*runs, 0.25);
  done = true;
  opens.join();
}

TEST_CASE("tuning for unlike providers places on each only what it runs, and says what it ran") {
  if (!have_webgpu()) return;
  const Folder folder;
  const std::string model = folder.path("model.onnx");
  OnnxBuilder b = test::convolutional_model();
  b.graph().mutable_output()->RemoveLast();
  b.node("NonZero", {"y"}, {"z"}, "nonzero");  // WebGPU has none
  OnnxBuilder::set_type(*b.graph().add_output(), "z", {"2", "k"}, onnx::TensorProto::INT64);
  std::ofstream(model, std::ios::binary) << b.bytes();
  folder.write("machine.json", R"({"format_version": 1, "execution": "staged", "devices": [
    {"name": "cpu:0", "kind": "cpu"}, {"name": "gpu:0", "kind": "gpu"}],
    "default_link": {"bandwidth_bytes_per_us": 10000}})");
  const std::string tuned = folder.path("tuned");
  const json said = json::parse(
      output_of(kPlaceto + "tune " + model + " -t " + folder.path("machine.json") + " -o " + tuned +
                " --dim batch=1 --runs 3 --rounds 1 --provider gpu=webgpu --json"));
  bool engine = false;
  for (const auto& contender : said["contenders"]) {
    engine = engine || contender["name"] == "the engine with webgpu";
  }
  CHECK_MESSAGE(engine, said["contenders"].dump());
  REQUIRE(said["notes"].size() == 1);
  const std::string note = said["notes"][0];
  CHECK(note.find("webgpu on gpu:0 lacks NonZero") != std::string::npos);
  const json report = json::parse(folder.read("tuned/tune.json"));
  CHECK(report["providers"] == json({{"cpu:0", "cpu"}, {"gpu:0", "webgpu"}}));
  // No layouts of the processor, which the GPU has no kernels for.
  const json saved = json::parse(  // without the note on the shape of z
      output_of("{ " PLACETO_CLI " inspect --json " + tuned + "/model.onnx 2>/dev/null; }"));
  CHECK_FALSE(saved["ops"].contains("ReorderOutput"));
  CHECK(saved["ops"].contains("Relu"));
  const json run = json::parse(output_of(kPlaceto + "run " + tuned + " --runs 3 --json"));
  CHECK(run["chosen"] == report["chosen"]["name"]);
}

TEST_CASE("what tune hands out runs with the provider that it was measured with") {
  if (!have_webgpu()) return;
  const Folder folder;
  std::ofstream(folder.path("model.onnx"), std::ios::binary) << test::convolutional_model().bytes();
  folder.write("machine.json", R"({"format_version": 1, "execution": "staged", "devices": [
    {"name": "gpu:0", "kind": "gpu"}]})");
  output_of(kPlaceto + "tune " + folder.path("model.onnx") + " -t " + folder.path("machine.json") +
            " -o " + folder.path("tuned") +
            " --dim batch=1 --runs 3 --rounds 1 --provider gpu=webgpu --json");
  const json report = json::parse(folder.read("tuned/tune.json"));
  const std::string name = report["chosen"]["name"];
  CAPTURE(name);
  const bool on_gpu = name == "one device" || name == "the engine with webgpu";
  CHECK(report["providers"] == json({{"gpu:0", on_gpu ? "webgpu" : "cpu"}}));
}

}  // namespace
}  // namespace placeto
