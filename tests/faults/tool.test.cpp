// One allocation of `placeto import` fails: it ends with status 4, says why, and leaves nothing.
#include <doctest/doctest.h>

#include <cstdlib>
#include <string>

#include "runtime/base/random.h"
#include "tests/cli/runner.h"
#include "tests/support/onnx_models.h"

namespace placeto {
namespace {

test::Run import_failing_at(uint64_t allocation, const test::Workplace& here) {
  setenv("LD_PRELOAD", PLACETO_FAILING_TOOL, 1);
  setenv("PLACETO_FAIL_ALLOCATION", std::to_string(allocation).c_str(), 1);
  test::Run run = here.run({"import", "model.onnx", "--dim", "batch=2", "-o", "graph.json"});
  unsetenv("LD_PRELOAD");
  return run;
}

}  // namespace

TEST_CASE("whichever allocation fails, an import says so, ends with 4 and writes nothing") {
  const test::Workplace here;
  here.write("model.onnx", test::convolutional_model().bytes());
  setenv("PLACETO_ALLOCATIONS", here.path("count").c_str(), 1);
  const test::Run whole = import_failing_at(0, here);
  unsetenv("PLACETO_ALLOCATIONS");
  REQUIRE_MESSAGE(whole.status == 0, whole.err);
  const auto count = static_cast<uint32_t>(std::stoul(here.read("count")));
  REQUIRE(count > 1000);
  std::filesystem::remove(here.path("count"));
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

}  // namespace placeto
