// Every field that placeto run and tune print as JSON, or write, is in tools/cli/README.md.
#include <doctest/doctest.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/engine/output_of.h"
#include "tests/support/described_fields.h"
#include "tests/support/folder.h"
#include "tests/support/onnx_models.h"
#include "tests/support/written_split.h"

namespace placeto {
namespace {

using nlohmann::json;
using test::check_described;
using test::described_below;
using test::Folder;
using test::OnnxBuilder;
using test::output_of;
using test::write_split;

// x - Relu - Neg - y
OnnxBuilder two_operators() {
  OnnxBuilder b;
  b.input("x", {"rows", "8"});
  b.node("Relu", {"x"}, {"r"}, "relu");
  b.node("Neg", {"r"}, {"y"}, "neg");
  OnnxBuilder::set_type(*b.graph().add_output(), "y", {"rows", "8"});
  return b;
}

json printed_by(const std::string& arguments) {
  const json object = json::parse(output_of("(" PLACETO_CLI " " + arguments + " 2>/dev/null)"));
  REQUIRE(object.is_object());
  return object;
}

TEST_CASE("every field that run prints is described") {
  const Folder folder;
  PlacementSpec placement;
  placement.devices = {"cpu:0", "cpu:1"};
  placement.assignment = {0, 1};
  placement.stages = {0, 1};
  placement.order = {0, 1};
  const auto split =
      write_split(folder, two_operators(), placement, std::nullopt, {30, 12, {0, 18}, {10, 12}});
  const std::string line = "run --runs 5 --dim rows=4 " + split.stages + " --model " + split.model +
                           " --write-profiles " + folder.path("profile") + " --json --check";
  const json said = printed_by(line);
  for (const char* field : {"dims", "stream", "predicted_us", "deviation", "profiles", "cuts"}) {
    CHECK_MESSAGE(said.contains(field), field);
  }
  check_described(said, described_below({"run"}));
  const json profiles = said.at("profiles");
  REQUIRE(profiles.size() == 2);
  check_described(printed_by("verify " + split.stages + " " + std::string(profiles[0]) + " " +
                             std::string(profiles[1]) + " --json"),
                  described_below({"verify"}));
}

TEST_CASE("every field that tune prints and writes is described") {
  const Folder folder;
  std::ofstream(folder.path("model.onnx"), std::ios::binary) << two_operators().bytes();
  output_of(PLACETO_CLI " detect --workers 2 -o " + folder.path("machine.json"));
  const json said = printed_by("tune " + folder.path("model.onnx") + " --dim rows=4 -t " +
                               folder.path("machine.json") + " -o " + folder.path("tuned") +
                               " --rounds 1 --runs 3 --budget-evals 10 --json");
  CHECK(said.at("contenders").size() > 1);
  check_described(said, described_below({"tune"}));
  json written = json::parse(folder.read("tuned/tune.json"));
  CHECK(written.at("chosen") == said.at("contenders").at(size_t{said.at("chosen")}));
  written.erase("chosen");
  check_described(written, described_below({"tune"}));
  check_described(printed_by("run " + folder.path("tuned") + " --runs 3 --json"),
                  described_below({"run"}));
}

}  // namespace
}  // namespace placeto
