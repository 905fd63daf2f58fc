// libplaceto-runner through its interface in C, on models that the test makes.

#include <sys/stat.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <thread>

#include "tests/support/split_diamond.h"
#include "tests/unit/capi_support.h"
#include "tools/capi/runner/include/placeto/placeto_runner.h"

using namespace capi_test;
using placeto::test::Folder;
using placeto::test::OnnxBuilder;
using placeto::test::SplitDiamond;

namespace {

using Runner = std::unique_ptr<placeto_runner, Deleter<placeto_runner, placeto_runner_free>>;
using Texts = std::vector<const char*>;

struct Wanted {
  uint32_t slots = 1, threads = 0;
  Texts dims = {}, providers = {};
};

placeto_status try_open(const std::string& path, const Wanted& wanted, placeto_runner** runner,
                        placeto_error* error) {
  placeto_runner_options options;
  REQUIRE(placeto_runner_default_options(&options, sizeof options) == PLACETO_OK);
  options.slots = wanted.slots;
  options.threads = wanted.threads;
  options.dims = wanted.dims.data();
  options.dim_count = wanted.dims.size();
  options.providers = wanted.providers.data();
  options.provider_count = wanted.providers.size();
  return placeto_runner_open(path.c_str(), &options, runner, error);
}

Runner open(const std::string& path, const Wanted& wanted = {}) {
  placeto_runner* runner = nullptr;
  placeto_error error;
  REQUIRE_MESSAGE(try_open(path, wanted, &runner, &error) == PLACETO_OK, error.message);
  return Runner(runner);
}

void check_refused(const std::string& path, const Wanted& wanted, placeto_status status,
                   const char* words) {
  placeto_runner* runner = nullptr;
  placeto_error error;
  CHECK(try_open(path, wanted, &runner, &error) == status);
  CHECK(runner == nullptr);
  CHECK_MESSAGE(mentions(error, words), error.message);
}

void start(const Runner& runner) {
  placeto_error error;
  REQUIRE_MESSAGE(placeto_runner_start(runner.get(), &error) == PLACETO_OK, error.message);
}

template <class Number>
Number* input_of(const Runner& runner, uint32_t slot, size_t count) {
  void* data = nullptr;
  size_t bytes = 0;
  placeto_error error;
  REQUIRE_MESSAGE(placeto_runner_input(runner.get(), slot, 0, &data, &bytes, &error) == PLACETO_OK,
                  error.message);
  REQUIRE(bytes == count * sizeof(Number));
  return static_cast<Number*>(data);
}

// x[i] of the diamond, 8 in a row.
void write_request(const Runner& runner, uint32_t slot, size_t rows, float seed) {
  float* const x = input_of<float>(runner, slot, rows * 8);
  for (size_t i = 0; i < rows * 8; ++i) x[i] = seed + static_cast<float>(i) / 16 - 1;
}

placeto_runner_view view_of(const Runner& runner, uint32_t slot) {
  placeto_runner_view view;
  view.struct_size = sizeof view;
  placeto_error error;
  REQUIRE_MESSAGE(placeto_runner_output(runner.get(), slot, 0, &view, &error) == PLACETO_OK,
                  error.message);
  return view;
}

// Whether y is what the diamond makes of that request.
bool has_answer(const Runner& runner, uint32_t slot, size_t rows, float seed) {
  const placeto_runner_view view = view_of(runner, slot);
  if (view.bytes != rows * 8 * sizeof(float)) return false;
  const float* const y = static_cast<const float*>(view.data);
  for (size_t i = 0; i < rows * 8; ++i) {
    const float x = seed + static_cast<float>(i) / 16 - 1;
    const float expected = std::tanh(std::max(x, 0.0f)) + 1 / (1 + std::exp(-x));
    if (!(std::abs(y[i] - expected) < 1e-5f)) return false;
  }
  return true;
}

placeto_status run(const Runner& runner, uint32_t slot) {
  return placeto_runner_run(runner.get(), slot, nullptr);
}

// That a call is refused as misuse, in these words.
template <class Call>
void check_misuse(const char* words, Call call) {
  placeto_error error;
  CHECK(call(&error) == PLACETO_INVALID_ARGUMENT);
  CHECK_MESSAGE(mentions(error, words), error.message);
}

}  // namespace

TEST_CASE("stages give through C what the whole model gives") {
  const SplitDiamond scene("4");
  const Runner split = open(scene.stages), whole = open(scene.model);
  for (const Runner* runner : {&split, &whole}) {
    write_request(*runner, 0, 4, 0.25f);
    start(*runner);
    REQUIRE(run(*runner, 0) == PLACETO_OK);
    CHECK(has_answer(*runner, 0, 4, 0.25f));
  }
  const placeto_runner_view a = view_of(split, 0), b = view_of(whole, 0);
  REQUIRE(a.bytes == b.bytes);
  CHECK(std::memcmp(a.data, b.data, a.bytes) == 0);
  CHECK(a.element == PLACETO_RUNNER_FLOAT32);
  REQUIRE(a.rank == 2);
  CHECK(a.shape[0] == 4);
  CHECK(a.shape[1] == 8);
}

TEST_CASE("inputs, outputs and stages are described as the model has them") {
  const SplitDiamond scene("n");
  const Runner runner = open(scene.stages, {.slots = 3, .threads = 2, .dims = {"x[0]=5"}});
  CHECK(placeto_runner_slots(runner.get()) == 3);
  CHECK(placeto_runner_threads(runner.get()) == 2);
  CHECK(placeto_runner_replicas(runner.get()) == 1);
  CHECK(placeto_runner_input_count(runner.get()) == 1);
  CHECK(placeto_runner_output_count(runner.get()) == 1);
  CHECK(placeto_runner_find_input(runner.get(), "x") == 0);
  CHECK(placeto_runner_find_input(runner.get(), "y") == PLACETO_NONE);
  CHECK(placeto_runner_find_output(runner.get(), "y") == 0);
  placeto_runner_tensor tensor;
  tensor.struct_size = sizeof tensor;
  REQUIRE(placeto_runner_input_tensor(runner.get(), 0, &tensor, nullptr) == PLACETO_OK);
  CHECK(std::string(tensor.name) == "x");
  CHECK(std::string(tensor.element_name) == "float32");
  CHECK(tensor.element_bytes == 4);
  REQUIRE(tensor.rank == 2);
  CHECK(tensor.shape[0] == 5);
  CHECK(std::string(tensor.symbols[0]) == "n");
  CHECK(std::string(tensor.symbols[1]).empty());
  REQUIRE(placeto_runner_output_tensor(runner.get(), 0, &tensor, nullptr) == PLACETO_OK);
  CHECK(tensor.shape[0] == -1);
  REQUIRE(placeto_runner_stage_count(runner.get()) == 3);
  std::string devices;
  for (uint32_t s = 0; s < 3; ++s) {
    placeto_runner_stage stage;
    stage.struct_size = sizeof stage;
    REQUIRE(placeto_runner_get_stage(runner.get(), s, &stage, nullptr) == PLACETO_OK);
    devices += std::string(stage.device) + " ";
    CHECK(std::string(stage.file).ends_with(".onnx"));
    CHECK(stage.node_count > 0);
  }
  CHECK(devices.find("cpu:1") != std::string::npos);

  write_request(runner, 0, 5, 0);
  start(runner);
  for (const uint32_t slot : {2u, 0u}) {  // the inputs of slot 0 are everywhere
    REQUIRE(run(runner, slot) == PLACETO_OK);
    CHECK(view_of(runner, slot).shape[0] == 5);
    CHECK(has_answer(runner, slot, 5, 0));
  }
}

TEST_CASE("two threads keep two slots in flight, and each gets the answers to its own requests") {
  const SplitDiamond scene("4");
  const Runner runner = open(scene.stages, {.slots = 2});
  start(runner);
  std::atomic<int> right{0};
  constexpr int kRequests = 300;
  const auto serve = [&](uint32_t slot) {
    for (int r = 0; r < kRequests; ++r) {
      const float seed = static_cast<float>(slot) + static_cast<float>(r) / kRequests;
      write_request(runner, slot, 4, seed);
      const bool alone = r % 3 == 0;
      placeto_status status =
          alone ? run(runner, slot) : placeto_runner_submit(runner.get(), slot, nullptr);
      if (status == PLACETO_OK && !alone) status = placeto_runner_wait(runner.get(), slot, nullptr);
      right += status == PLACETO_OK && has_answer(runner, slot, 4, seed);
    }
  };
  std::thread other(serve, 1);
  serve(0);
  other.join();
  CHECK(right == 2 * kRequests);
}

TEST_CASE("nothing is run before the start, and there is one start") {
  const SplitDiamond scene("4");
  const Runner runner = open(scene.stages);
  placeto_runner* const r = runner.get();
  check_misuse("not started", [&](placeto_error* e) { return placeto_runner_run(r, 0, e); });
  check_misuse("not started", [&](placeto_error* e) { return placeto_runner_submit(r, 0, e); });
  check_misuse("no request of it is in flight",
               [&](placeto_error* e) { return placeto_runner_wait(r, 0, e); });
  start(runner);
  check_misuse("the runner is started",
               [&](placeto_error* e) { return placeto_runner_start(r, e); });
  placeto_runner_view view;
  view.struct_size = sizeof view;
  check_misuse("slot 0: it has run no request yet",
               [&](placeto_error* e) { return placeto_runner_output(r, 0, 0, &view, e); });
  check_misuse("slot 0: it has run no request yet", [&](placeto_error* e) {
    return placeto_runner_times(r, 0, nullptr, nullptr, nullptr, 0, e);
  });
  CHECK(run(runner, 0) == PLACETO_OK);
}

TEST_CASE("a slot has one request at a time, and nothing of it is handed out before its end") {
  const SplitDiamond scene("4");
  const Runner runner = open(scene.stages);
  placeto_runner* const r = runner.get();
  start(runner);
  placeto_runner_view view;
  view.struct_size = sizeof view;
  void* data = nullptr;
  size_t bytes = 0;
  REQUIRE(placeto_runner_submit(r, 0, nullptr) == PLACETO_OK);
  const char* const words = "slot 0: its request is in flight";
  check_misuse(words, [&](placeto_error* e) { return placeto_runner_submit(r, 0, e); });
  check_misuse(words, [&](placeto_error* e) { return placeto_runner_run(r, 0, e); });
  check_misuse(words,
               [&](placeto_error* e) { return placeto_runner_input(r, 0, 0, &data, &bytes, e); });
  CHECK(data == nullptr);
  check_misuse(words, [&](placeto_error* e) { return placeto_runner_output(r, 0, 0, &view, e); });
  check_misuse(words, [&](placeto_error* e) {
    return placeto_runner_times(r, 0, nullptr, nullptr, nullptr, 0, e);
  });
  REQUIRE(placeto_runner_wait(r, 0, nullptr) == PLACETO_OK);
  check_misuse("no request of it is in flight",
               [&](placeto_error* e) { return placeto_runner_wait(r, 0, e); });
  CHECK(placeto_runner_output(r, 0, 0, &view, nullptr) == PLACETO_OK);
}

TEST_CASE("slots, inputs, outputs and stages beyond the last are refused by number") {
  const SplitDiamond scene("4");
  const Runner runner = open(scene.stages);
  placeto_runner* const r = runner.get();
  void* data = nullptr;
  size_t bytes = 0;
  placeto_runner_view view;
  placeto_runner_tensor tensor;
  placeto_runner_stage stage;
  check_misuse("slot is 1, expected less than 1",
               [&](placeto_error* e) { return placeto_runner_input(r, 1, 0, &data, &bytes, e); });
  check_misuse("input is 1",
               [&](placeto_error* e) { return placeto_runner_input(r, 0, 1, &data, &bytes, e); });
  check_misuse("input is 9",
               [&](placeto_error* e) { return placeto_runner_input_tensor(r, 9, &tensor, e); });
  check_misuse("output is 1",
               [&](placeto_error* e) { return placeto_runner_output_tensor(r, 1, &tensor, e); });
  check_misuse("stage is 3",
               [&](placeto_error* e) { return placeto_runner_get_stage(r, 3, &stage, e); });
  start(runner);
  REQUIRE(run(runner, 0) == PLACETO_OK);
  for (const uint32_t slot : {1u, PLACETO_NONE}) {
    check_misuse("slot is ", [&](placeto_error* e) { return placeto_runner_run(r, slot, e); });
    check_misuse("slot is ", [&](placeto_error* e) { return placeto_runner_submit(r, slot, e); });
    check_misuse("slot is ", [&](placeto_error* e) { return placeto_runner_wait(r, slot, e); });
    check_misuse("slot is ",
                 [&](placeto_error* e) { return placeto_runner_output(r, slot, 0, &view, e); });
  }
  check_misuse("output is 1",
               [&](placeto_error* e) { return placeto_runner_output(r, 0, 1, &view, e); });
  view.struct_size = 8;
  check_misuse("struct_size is 8",
               [&](placeto_error* e) { return placeto_runner_output(r, 0, 0, &view, e); });
}

// y = table[x], which the engine refuses for an x beyond the table.
TEST_CASE("a request that the engine refuses fails alone, and so does a first run") {
  OnnxBuilder b;
  b.input("x", {"2"}, onnx::TensorProto::INT64);
  b.weight("table", {4, 3});
  b.node("Gather", {"table", "x"}, {"y"}, "gather");
  OnnxBuilder::set_type(*b.graph().add_output(), "y", {"2", "3"});
  const Folder folder;
  folder.write("model.onnx", b.bytes());
  const Runner runner = open(folder.path("model.onnx"), {.slots = 2});
  int64_t* const x = input_of<int64_t>(runner, 0, 2);
  placeto_error error;
  x[0] = 100;
  CHECK(placeto_runner_start(runner.get(), &error) == PLACETO_BAD_INPUT);
  CHECK_MESSAGE(mentions(error, "ONNX Runtime: "), error.message);
  x[0] = 3;
  start(runner);
  CHECK(x == input_of<int64_t>(runner, 0, 2));
  CHECK(run(runner, 0) == PLACETO_OK);
  x[1] = 100;
  CHECK(placeto_runner_run(runner.get(), 0, &error) == PLACETO_BAD_INPUT);
  CHECK(mentions(error, "ONNX Runtime: "));
  placeto_runner_view view;
  view.struct_size = sizeof view;
  check_misuse("slot 0: its last request failed", [&](placeto_error* e) {
    return placeto_runner_output(runner.get(), 0, 0, &view, e);
  });
  CHECK(run(runner, 1) == PLACETO_OK);
  x[1] = 0;
  CHECK(run(runner, 0) == PLACETO_OK);
  CHECK(view_of(runner, 0).bytes == 2 * 3 * sizeof(float));
}

TEST_CASE("times of a request are in the order in which its stages ran") {
  const SplitDiamond scene("4");
  const Runner runner = open(scene.stages);
  start(runner);
  REQUIRE(placeto_runner_submit(runner.get(), 0, nullptr) == PLACETO_OK);
  REQUIRE(placeto_runner_wait(runner.get(), 0, nullptr) == PLACETO_OK);
  const size_t stages = placeto_runner_stage_count(runner.get());
  std::vector<double> starts(stages), ends(stages);
  double submitted = 0;
  placeto_error error;
  REQUIRE(placeto_runner_times(runner.get(), 0, &submitted, starts.data(), ends.data(), stages,
                               &error) == PLACETO_OK);
  CHECK(submitted > 0);
  for (size_t s = 0; s < stages; ++s) {
    CHECK(starts[s] >= submitted);
    CHECK(ends[s] >= starts[s]);
  }
  CHECK(starts.back() >= ends.front());
  CHECK(placeto_runner_times(runner.get(), 0, nullptr, nullptr, ends.data(), stages - 1, &error) ==
        PLACETO_BUFFER_TOO_SMALL);
  CHECK(mentions(error, "ends_us: capacity is 2"));
}

TEST_CASE("numbers of axes are those given, else those that the stages were placed with") {
  const SplitDiamond scene("n");
  const std::string path = scene.stages + "/manifest.json";
  const std::string text = placeto::test::bytes_of(path);
  check_refused(scene.stages, {}, PLACETO_INVALID_ARGUMENT, "expected dimension setting 'n=N'");
  std::ofstream(path) << R"({"dims": {"n": 7},)" << text.substr(text.find('{') + 1);
  const auto rows = [&](const Texts& dims) {
    const Runner runner = open(scene.stages, {.dims = dims});
    placeto_runner_tensor tensor;
    tensor.struct_size = sizeof tensor;
    REQUIRE(placeto_runner_input_tensor(runner.get(), 0, &tensor, nullptr) == PLACETO_OK);
    return tensor.shape[0];
  };
  CHECK(rows({}) == 7);
  CHECK(rows({"n=3"}) == 3);
  CHECK(rows({"x[0]=4"}) == 4);
  check_refused(scene.stages, {.dims = {"m=3"}}, PLACETO_INVALID_ARGUMENT,
                "'m=3': the stages have no such free dimension");
}

TEST_CASE("providers go to devices by name or kind, and one that is not there is refused") {
  const SplitDiamond scene("4");
  const Runner runner = open(scene.stages, {.providers = {"cpu=teapot", "cpu=cpu", "cpu:1=cpu"}});
  check_refused(scene.stages, {.providers = {"cpu:1=teapot"}}, PLACETO_INVALID_ARGUMENT,
                "device 'cpu:1': this ONNX Runtime has no provider 'teapot'");
  check_refused(
      scene.stages, {.providers = {"cpu:1=cpu", "gpu=cuda"}}, PLACETO_INVALID_ARGUMENT,
      "providers: 'gpu=cuda': expected DEVICE=VALUE with a kind or a device of cpu:0, cpu:1");
}

TEST_CASE("threads, replicas and providers are those that tuning found, unless given otherwise") {
  const SplitDiamond scene("4");
  const auto write = [&](const std::string& text) {
    std::ofstream(scene.stages + "/tune.json") << text;
  };
  write(R"({"chosen": {"name": "2 threads", "stages": 1, "threads": 2, "replicas": 3}})");
  for (const std::string& path : {scene.stages, scene.stages + "/manifest.json"}) {
    const Runner runner = open(path);
    CHECK(placeto_runner_threads(runner.get()) == 2);
    CHECK(placeto_runner_replicas(runner.get()) == 3);
  }
  CHECK(placeto_runner_threads(open(scene.stages, {.threads = 1}).get()) == 1);
  CHECK(placeto_runner_threads(open(scene.model).get()) == 1);
  write(R"({"chosen": {"name": "2 threads", "stages": 1, "threads": 2, "replicas": 3},
    "providers": {"cpu:1": "teapot", "gpu:9": "cuda"}})");
  check_refused(scene.stages, {}, PLACETO_INVALID_ARGUMENT, "no provider 'teapot'");
  open(scene.stages, {.providers = {"cpu=cpu"}});
  write("{}");
  check_refused(scene.stages, {}, PLACETO_BAD_INPUT, "tune.json: expected what tune writes");
}

// That no file is left is tested with the tool, which can be given a folder of its own for them.
TEST_CASE("the engine is loaded without its telemetry, which writes files") {
  const SplitDiamond scene("4");
  start(open(scene.stages));
  CHECK(std::getenv("ORT_DISABLE_TELEMETRY") != nullptr);
}

TEST_CASE("a manifest without devices is bad input, whatever providers are given") {
  const Folder folder;
  folder.write("empty.json", R"({"format_version": 1, "model": "m", "graph": "g",
    "topology": "t", "devices": [], "inputs": [], "outputs": [], "stages": [], "order": []})");
  check_refused(folder.path("empty.json"), {.providers = {"cpu=cpu"}}, PLACETO_BAD_INPUT,
                "manifest.devices: expected at least one name");
}

TEST_CASE("stages that contradict their manifest are bad input") {
  const SplitDiamond scene("4");
  OnnxBuilder b;
  b.input("nobody", {"4", "8"});
  b.node("Relu", {"nobody"}, {"b"}, "only");
  OnnxBuilder::set_type(*b.graph().add_output(), "b", {"4", "8"});
  scene.folder.write("stages/stage_1.onnx", b.bytes());
  check_refused(scene.stages, {}, PLACETO_BAD_INPUT, "stage_1.onnx: reads 'nobody'");
}

TEST_CASE("a stage that is a pipe is refused instead of waited for") {
  const SplitDiamond scene("4");
  const std::string stage = scene.stages + "/stage_1.onnx";
  REQUIRE(std::remove(stage.c_str()) == 0);
  REQUIRE(mkfifo(stage.c_str(), 0600) == 0);
  check_refused(scene.stages, {}, PLACETO_BAD_INPUT, "stage_1.onnx: expected a regular file");
}

TEST_CASE("a file that the engine refuses is named") {
  const SplitDiamond scene("4");
  scene.folder.write("broken.onnx", "no model");
  check_refused(scene.folder.path("broken.onnx"), {}, PLACETO_BAD_INPUT, "broken.onnx");
}

TEST_CASE("a runner can be freed before its start, and while requests are in flight") {
  const SplitDiamond scene("4");
  open(scene.stages);
  for (int i = 0; i < 20; ++i) {
    const Runner runner = open(scene.stages, {.slots = 2});
    start(runner);
    REQUIRE(placeto_runner_submit(runner.get(), 0, nullptr) == PLACETO_OK);
    REQUIRE(placeto_runner_submit(runner.get(), 1, nullptr) == PLACETO_OK);
  }
}
