// One allocation of `placeto import` fails: it ends with status 4, says why, and leaves nothing.
#include <doctest/doctest.h>

#include <cstdlib>
#include <string>

#include "runtime/base/random.h"
#include "tests/cli/runner.h"
#include "tests/support/onnx_models.h"

namespace placeto {
namespace {

test::Run failing_at(uint64_t allocation, const test::Workplace& here,
                     const std::vector<std::string>& command) {
  setenv("LD_PRELOAD", PLACETO_FAILING_TOOL, 1);
  setenv("PLACETO_FAIL_ALLOCATION", std::to_string(allocation).c_str(), 1);
  test::Run run = here.run(command);
  unsetenv("LD_PRELOAD");
  return run;
}

test::Run import_failing_at(uint64_t allocation, const test::Workplace& here) {
  return failing_at(allocation, here,
                    {"import", "model.onnx", "--dim", "batch=2", "-o", "graph.json"});
}

// The allocations of a command that succeeds.
uint32_t allocations_of(const test::Workplace& here, const std::vector<std::string>& command) {
  setenv("PLACETO_ALLOCATIONS", here.path("count").c_str(), 1);
  const test::Run whole = failing_at(0, here, command);
  unsetenv("PLACETO_ALLOCATIONS");
  REQUIRE_MESSAGE(whole.status == 0, whole.err);
  const auto count = static_cast<uint32_t>(std::stoul(here.read("count")));
  std::filesystem::remove(here.path("count"));
  return count;
}

}  // namespace

TEST_CASE("whichever allocation fails, an import says so, ends with 4 and writes nothing") {
  const test::Workplace here;
  here.write("model.onnx", test::convolutional_model().bytes());
  const uint32_t count =
      allocations_of(here, {"import", "model.onnx", "--dim", "batch=2", "-o", "graph.json"});
  REQUIRE(count > 1000);
  std::filesystem::remove(here.path("graph.json"));

  const auto check = [&](uint64_t allocation) {
    CAPTURE(allocation);
    const test::Run run = import_failing_at(allocation, here);
    CHECK(run.status == 4);
    CHECK(run.err == "placeto: error: out of memory\n");
    CHECK(here.files() == std::vector<std::string>{"model.onnx"});
  };
  Random random(11);
  for (int i = 0; i < 40; ++i) check(1 + random.below(count));
  // Reading, inferring and writing come last: before, libonnx lists its operators.
  for (int i = 0; i < 80; ++i) check(count - 2 - random.below(3000));
  for (uint64_t k = 2; k < 50; ++k) check(count - k);
}

TEST_CASE("whichever allocation fails, JSON says so, and an export leaves no folder on its way") {
  const test::Workplace here;
  here.write("model.onnx", test::convolutional_model().bytes());
  REQUIRE(here.run({"place", "model.onnx", "--dim", "batch=2", "-t", "cpu+gpu", "--method",
                    "single", "-o", "p.json"})
              .status == 0);
  const std::vector<std::string> before = here.files();
  const std::vector<std::string> command = {"export",  "p.json", "--model", "model.onnx",
                                            "--split", "stages", "--json"};
  const uint32_t count = allocations_of(here, command);
  std::filesystem::remove_all(here.path("stages"));
  for (uint64_t k = 1; k < 400; k += 3) {
    CAPTURE(k);
    const test::Run run = failing_at(count - k, here, command);
    CHECK(run.status == 4);
    const auto said = nlohmann::json::parse(run.out, nullptr, false);
    REQUIRE_MESSAGE(said.is_object(), run.out);
    CHECK(said.at("error") == "out of memory");
    CHECK(said.at("exit_status") == 4);
    std::filesystem::remove_all(here.path("stages"));  // whole, if that was the last thing it did
    CHECK(here.files() == before);
  }
}

}  // namespace placeto
