// libplaceto-runner through its interface in C: what needs no engine. The rest is
// tests/engine/runner_capi.test.cpp.
#include <string>

#include "tests/unit/last_bytes.h"
#include "tools/capi/runner/include/placeto/placeto_runner.h"

using namespace capi_test;

namespace {

placeto_runner_options defaults() {
  placeto_runner_options options;
  REQUIRE(placeto_runner_default_options(&options, sizeof options) == PLACETO_OK);
  return options;
}

placeto_status open_with(const placeto_runner_options& options, placeto_error* error,
                         const char* path = PLACETO_MODELS "/example.onnx") {
  auto* runner = reinterpret_cast<placeto_runner*>(&error);
  const placeto_status status = placeto_runner_open(path, &options, &runner, error);
  CHECK((runner == nullptr) == (status != PLACETO_OK));
  placeto_runner_free(runner);
  return status;
}

}  // namespace

TEST_CASE("the runner says its version and, the same every time, its engine") {
  CHECK(placeto_runner_version() == PLACETO_VERSION);
  const std::string engine = placeto_runner_engine();
  CHECK((engine.empty() || engine.starts_with("onnxruntime ")));
  CHECK(placeto_runner_engine() == engine);
}

TEST_CASE("without an engine a model is refused with what is missing") {
  if (placeto_runner_engine()[0] != '\0') return;
  placeto_error error;
  CHECK(open_with(defaults(), &error) == PLACETO_INVALID_ARGUMENT);
  CHECK(mentions(error, "ONNX Runtime"));
}

TEST_CASE("a runner's defaults are one thread unless tune.json says more, and one slot") {
  const placeto_runner_options options = defaults();
  CHECK(options.struct_size == 48);
  CHECK(options.threads == 0);
  CHECK(options.slots == 1);
  CHECK(options.dims == nullptr);
  CHECK(options.providers == nullptr);
  placeto_runner_options other;
  CHECK(placeto_runner_default_options(nullptr, sizeof other) == PLACETO_INVALID_ARGUMENT);
  CHECK(placeto_runner_default_options(&other, 40) == PLACETO_INVALID_ARGUMENT);
}

TEST_CASE("options of the runner are read no further than they go, and checked") {
  placeto_error error;
  refuses_stubs<placeto_runner_options>(
      [](const placeto_runner_options* options, placeto_error* e) {
        placeto_runner* runner = nullptr;
        return placeto_runner_open("net.stages", options, &runner, e);
      });
  placeto_runner_options options = defaults();
  options.threads = 1025;
  CHECK(open_with(options, &error) == PLACETO_INVALID_ARGUMENT);
  CHECK(mentions(error, "threads is 1025, expected 0 to 1024"));
  options = defaults();
  for (const uint32_t slots : {0u, 1025u, PLACETO_NONE}) {
    options.slots = slots;
    CHECK(open_with(options, &error) == PLACETO_INVALID_ARGUMENT);
    CHECK(mentions(error, "expected 1 to 1024"));
  }
  options = defaults();
  options.dim_count = 1;
  CHECK(open_with(options, &error) == PLACETO_INVALID_ARGUMENT);
  CHECK(mentions(error, "dims is NULL"));
  const char* const wrong[] = {"batch", nullptr};
  options.dims = wrong;
  CHECK(open_with(options, &error) == PLACETO_INVALID_ARGUMENT);
  CHECK(mentions(error, "expected NAME=N"));
  options.dim_count = 0;
  options.providers = wrong;
  options.provider_count = 1;
  CHECK(open_with(options, &error) == PLACETO_INVALID_ARGUMENT);
  CHECK(mentions(error, "expected DEVICE=VALUE"));
  options.provider_count = 2;
  CHECK(open_with(options, &error) == PLACETO_INVALID_ARGUMENT);
  CHECK(mentions(error, "providers[1] is NULL"));
}

TEST_CASE("stages that are not there, or contradict themselves, are refused with their path") {
  placeto_error error;
  CHECK(open_with(defaults(), &error, "/no/such/folder") == PLACETO_IO);
  CHECK(mentions(error, "/no/such/folder: "));
  const TemporaryFile file("manifest.json", {'{', '}'});
  CHECK(open_with(defaults(), &error, file.path()) == PLACETO_BAD_INPUT);
  CHECK(mentions(error, "manifest.json: "));
}

TEST_CASE("functions of a runner that is none say so, and getters answer nothing") {
  placeto_error error;
  placeto_runner* runner = nullptr;
  CHECK(placeto_runner_open(nullptr, nullptr, &runner, &error) == PLACETO_INVALID_ARGUMENT);
  CHECK(mentions(error, "path is NULL"));
  CHECK(placeto_runner_open("net.stages", nullptr, nullptr, &error) == PLACETO_INVALID_ARGUMENT);
  CHECK(placeto_runner_start(nullptr, &error) == PLACETO_INVALID_ARGUMENT);
  CHECK(placeto_runner_run(nullptr, 0, &error) == PLACETO_INVALID_ARGUMENT);
  CHECK(placeto_runner_submit(nullptr, 0, &error) == PLACETO_INVALID_ARGUMENT);
  CHECK(placeto_runner_wait(nullptr, 0, &error) == PLACETO_INVALID_ARGUMENT);
  CHECK(mentions(error, "runner is NULL"));
  placeto_runner_tensor tensor;
  placeto_runner_view view;
  placeto_runner_stage stage;
  void* data = &error;
  size_t bytes = 1;
  CHECK(placeto_runner_input_tensor(nullptr, 0, &tensor, &error) == PLACETO_INVALID_ARGUMENT);
  CHECK(placeto_runner_output_tensor(nullptr, 0, &tensor, &error) == PLACETO_INVALID_ARGUMENT);
  CHECK(placeto_runner_input(nullptr, 0, 0, &data, &bytes, nullptr) == PLACETO_INVALID_ARGUMENT);
  CHECK(data == nullptr);
  CHECK(bytes == 0);
  CHECK(placeto_runner_output(nullptr, 0, 0, &view, &error) == PLACETO_INVALID_ARGUMENT);
  CHECK(placeto_runner_get_stage(nullptr, 0, &stage, &error) == PLACETO_INVALID_ARGUMENT);
  CHECK(placeto_runner_times(nullptr, 0, nullptr, nullptr, nullptr, 0, &error) ==
        PLACETO_INVALID_ARGUMENT);
  CHECK(placeto_runner_threads(nullptr) == 0);
  CHECK(placeto_runner_slots(nullptr) == 0);
  CHECK(placeto_runner_replicas(nullptr) == 0);
  CHECK(placeto_runner_input_count(nullptr) == 0);
  CHECK(placeto_runner_output_count(nullptr) == 0);
  CHECK(placeto_runner_stage_count(nullptr) == 0);
  CHECK(placeto_runner_find_input(nullptr, "x") == PLACETO_NONE);
  CHECK(placeto_runner_find_output(nullptr, "y") == PLACETO_NONE);
  placeto_runner_free(nullptr);
}
