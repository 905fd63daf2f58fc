// placeto run, on real stages.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>
#include <optional>

#include "tests/engine/output_of.h"
#include "tests/support/folder.h"
#include "tests/support/onnx_models.h"
#include "tests/support/written_split.h"
#include "tools/engine/cores.h"

namespace placeto {
namespace {

using nlohmann::json;
using test::Folder;
using test::OnnxBuilder;
using test::output_of;
using test::write_split;

// x - Relu - Neg - y, a stage each on two devices, with a prediction.
std::string write_stages(const Folder& folder, const std::string& rows = "4") {
  OnnxBuilder b;
  b.input("x", {rows, "8"});
  b.node("Relu", {"x"}, {"r"}, "relu");
  b.node("Neg", {"r"}, {"y"}, "neg");
  OnnxBuilder::set_type(*b.graph().add_output(), "y", {rows, "8"});
  PlacementSpec placement;
  placement.devices = {"cpu:0", "cpu:1"};
  placement.assignment = {0, 1};
  placement.stages = {0, 1};
  placement.order = {0, 1};
  return write_split(folder, b, placement, std::nullopt, {30, 12, {0, 18}, {10, 12}}).stages;
}

json run(const std::string& arguments) {
  return json::parse(output_of(PLACETO_CLI " run --runs 5 --json " + arguments));
}

// x * w - Neg - y, and behind it, if `quantized`, steps of a fourth, from 0 on.
OnnxBuilder scaled(int type, const std::string& w, bool quantized = false) {
  OnnxBuilder b;
  b.input("x", {"4", "8"}, type);
  b.weight("w", {1}, type, w.size());
  b.graph().mutable_initializer(0)->set_raw_data(w);
  b.node("Mul", {"x", "w"}, {"r"}, "mul");
  b.node("Neg", {"r"}, {quantized ? "n" : "y"}, "neg");
  if (quantized) {
    b.weight("step", {}, type, 4);
    b.graph().mutable_initializer(1)->set_raw_data({0, 0, '\x80', '\x3e'});
    b.node("QuantizeLinear", {"n", "step"}, {"q"}, "quantize");
    b.node("DequantizeLinear", {"q", "step"}, {"y"}, "dequantize");
  }
  OnnxBuilder::set_type(*b.graph().add_output(), "y", {"4", "8"}, type);
  return b;
}

TEST_CASE("run --check takes as equal what the outputs' elements are too coarse for") {
  const std::string one = {0, 0, '\x80', '\x3f'}, more = {0, '\x80', '\x80', '\x3f'};  // 1.0039
  const std::string half_one = {0, '\x3c'}, half_more = {4, '\x3c'};
  const std::string minus_one = {0, 0, '\x80', '\xbf'}, minus_more = {0, 0, '\xa0', '\xbf'};
  const Folder folder, half, steps;
  PlacementSpec placement;
  placement.devices = {"cpu:0", "cpu:1"};
  placement.assignment = {0, 1};
  const auto check = [&](const Folder& in, const OnnxBuilder& split, const OnnxBuilder& whole) {
    const std::string stages = write_split(in, split, placement).stages;
    std::ofstream(in.path("other.onnx"), std::ios::binary) << whole.bytes();
    return PLACETO_CLI " run --runs 3 --mode latency " + stages + " --check --model " +
           in.path("other.onnx");
  };
  const auto type = onnx::TensorProto::FLOAT;
  const std::string said = folder.path("said");
  const auto status = [&](const std::string& line) {
    return WEXITSTATUS(std::system((line + " >" + said + " 2>&1").c_str()));
  };
  const std::string line = check(folder, scaled(type, one), scaled(type, more));
  CHECK(status(line) == 1);
  CHECK_MESSAGE(test::bytes_of(said).find("output 'y' deviates") != std::string::npos,
                test::bytes_of(said));
  CHECK(test::bytes_of(said).find("quantized") == std::string::npos);
  CHECK(status(line + " --json") == 1);
  const json report = json::parse(test::bytes_of(said).substr(0, test::bytes_of(said).find('\n')));
  CHECK(report["exit_status"] == 1);
  CHECK(report["status"] == "deviates");
  CHECK(report["deviation"] > report["tolerance"]);
  CHECK(status(line + " --tolerance 0.01") == 0);
  const auto half_type = onnx::TensorProto::FLOAT16;
  CHECK(status(check(half, scaled(half_type, half_one), scaled(half_type, half_more))) == 0);
  placement.assignment = {0, 1, 1, 1};
  CHECK(status(check(steps, scaled(type, minus_one, true), scaled(type, minus_more, true))) == 1);
  CHECK_MESSAGE(test::bytes_of(said).find("quantized") != std::string::npos, test::bytes_of(said));
}

TEST_CASE("run says of each cut how long it waits, as measured and as predicted") {
  const Folder folder;
  const json said = run(write_stages(folder));
  REQUIRE(said["cuts"].size() == 1);
  const json& cut = said["cuts"][0];
  CHECK(cut["name"] == "r");
  CHECK(cut["bytes"] == 128);
  CHECK(cut["wait_us"] > 0);
  CHECK(cut["predicted_wait_us"] == 8);
  CHECK(said["predicted_over_whole"] == 2.5);
}

TEST_CASE("run shows what was predicted of the numbers that it runs with, and of no others") {
  const Folder folder;
  const std::string stages = write_stages(folder, "n");
  json manifest = json::parse(std::ifstream(stages + "/manifest.json"));
  manifest["dims"]["n"] = 4;
  std::ofstream(stages + "/manifest.json") << manifest;
  for (const char* same : {"", " --dim n=4", " --dim '*=4'", " --dim 'x[0]=4'"}) {
    CHECK_MESSAGE(run(stages + same)["predicted_us"] == 30, same);
  }
  const std::string said = output_of(PLACETO_CLI " run --runs 5 --json --dim n=5 " + stages);
  CHECK(said.find("what is predicted is of n=4, and is not shown") != std::string::npos);
  const json other = json::parse(said.substr(said.find('{')));
  CHECK_FALSE(other.contains("predicted_us"));
  CHECK_FALSE(other.contains("predicted_over_whole"));
  CHECK_FALSE(other["stages"][0].contains("predicted_us"));
}

TEST_CASE("run says of a stream what the whole model took beside it") {
  const Folder folder;
  const json said = run(write_stages(folder));
  CHECK(said["stream"]["whole_us"]["median"] > 0);
}

TEST_CASE("run takes threads and replicas of a directory from what tune chose") {
  const Folder folder;
  const std::string stages = write_stages(folder);
  CHECK(run(stages)["threads"] == 1);
  std::ofstream(stages + "/tune.json") << R"({"chosen": {"name": "two replicas of two threads",
    "threads": 2, "replicas": 2, "stages": 1}})";
  const json chosen = run(stages);
  CHECK(chosen["chosen"] == "two replicas of two threads");
  CHECK(chosen["threads"] == 2);
  CHECK(chosen["stream"]["replicas"] == std::min(2u, usable_cores()));
  const json said = run(stages + " --threads 1 --replicas 3");
  CHECK(said["threads"] == 1);
  CHECK(said["stream"]["replicas"] == 3);
  CHECK_FALSE(run(folder.path("model.onnx")).contains("chosen"));
}

TEST_CASE("what run profiles of stages that the engine fuses, verify finds as planned") {
  const Folder folder;
  PlacementSpec placement;
  placement.devices = {"cpu:0", "cpu:1"};
  placement.assignment = {0, 0, 1, 1, 1};
  const std::string stages = write_split(folder, test::convolutional_model(), placement).stages;
  run(stages + " --dim batch=1 --mode latency --write-profiles " + folder.path("record"));
  const json said =
      json::parse(output_of(PLACETO_CLI " verify --json " + stages + " " + folder.path("record*")));
  CHECK(said["as_planned"] >= 3);
  CHECK(said["differences"].empty());
  CHECK(said["not_run"].empty());
}

TEST_CASE("run fails where the engine has no room for its profiles, and leaves none behind") {
  const Folder folder, profiles;
  const std::string said = folder.path("said");
  const std::string line = "ulimit -f 2; " PLACETO_CLI " run " + write_stages(folder) +
                           " --runs 3 --mode latency --write-profiles " + profiles.path("record") +
                           " >" + said + " 2>&1";
  CHECK(WEXITSTATUS(std::system(line.c_str())) == 4);
  const std::string text = test::bytes_of(said);
  CHECK_MESSAGE(text.find("record_stage_0") != std::string::npos, text);
  CHECK_MESSAGE(text.find(".json: cannot write: File too large") != std::string::npos, text);
  CHECK(profiles.size() == 0);
}

TEST_CASE("run takes providers of a directory from what tune measured with") {
  const Folder folder;
  const std::string stages = write_stages(folder), said = folder.path("said");
  std::ofstream(stages + "/tune.json") << R"({"chosen": {"name": "two stages", "threads": 1,
    "replicas": 1, "stages": 2}, "providers": {"cpu:1": "abacus", "gpu:7": "cuda"}})";
  const std::string command = PLACETO_CLI " run " + stages + " --runs 3 --json";
  CHECK(std::system((command + " >" + said + " 2>&1").c_str()) != 0);
  CHECK(test::bytes_of(said).find("no provider 'abacus'") != std::string::npos);
  CHECK(run(stages + " --provider cpu=cpu")["threads"] == 1);  // the caller's count more
  std::ofstream(stages + "/tune.json") << R"({"chosen": {"name": "two stages", "threads": 1,
    "replicas": 1, "stages": 2}, "providers": ["cpu"]})";
  CHECK(std::system((command + " >" + said + " 2>&1").c_str()) != 0);
  CHECK(test::bytes_of(said).find("providers: expected an object") != std::string::npos);
}

TEST_CASE("run says which provider ran each device, in its object and on its page") {
  const Folder folder;
  PlacementSpec placement;
  placement.devices = {"cpu:0", "gpu:0"};
  placement.assignment = {0, 0, 1, 1, 1};
  const std::string stages = write_split(folder, test::convolutional_model(), placement).stages;
  const std::string page = folder.path("page.html"), said = folder.path("said");
  const std::string line = PLACETO_CLI " run --runs 3 --json --mode latency --dim batch=1 " +
                           stages + " --report " + page + " 2>" + folder.path("note") + " >" + said;
  CHECK(std::system(line.c_str()) == 0);
  CHECK(json::parse(test::bytes_of(said))["providers"] == json{{"cpu:0", "cpu"}, {"gpu:0", "cpu"}});
  CHECK(test::bytes_of(page).find("cpu:0 by cpu, gpu:0 by cpu") != std::string::npos);
}

TEST_CASE("run and tune refuse to hold a device so much that a stage would hardly end") {
  const Folder folder;
  const std::string stages = write_stages(folder), said = folder.path("said");
  const std::string tune =
      "tune " + folder.path("model.onnx") + " -t cpu+gpu -o " + folder.path("best");
  for (const std::string& command : {"run " + stages, tune}) {
    for (const char* share : {"1e-300", "0.0009", "0", "1.1"}) {
      const std::string line = PLACETO_CLI " " + command + " --hold cpu:0=" + share + " 2>" + said;
      const int status = std::system(line.c_str());
      CHECK(WEXITSTATUS(status) == 2);
      CHECK_MESSAGE(test::bytes_of(said).find("is no share of the time, expected 0.001 to 1") !=
                        std::string::npos,
                    test::bytes_of(said));
    }
  }
  CHECK(run(stages + " --hold cpu:0=50% --mode latency").contains("cuts"));
}

// Its telemetry would keep a log in the folder for temporary files and a database in the home.
TEST_CASE("a run leaves no files of the engine behind") {
  const Folder folder, empty;
  const std::string own = "env -u ORT_DISABLE_TELEMETRY -u XDG_CACHE_HOME HOME=" + empty.root() +
                          " TMPDIR=" + empty.root() + " " PLACETO_CLI " run --runs 3 --json ";
  CHECK(json::parse(output_of(own + write_stages(folder))).contains("cuts"));
  CHECK(empty.size() == 0);
}

TEST_CASE("run says of inputs that it made up where the engine refuses them") {
  const Folder folder;
  OnnxBuilder b;
  b.input("index", {"1"}, onnx::TensorProto::INT64);  // 1 is made up, and only 0 is in range
  b.weight("row", {1}, onnx::TensorProto::FLOAT, 4);
  b.node("Gather", {"row", "index"}, {"y"}, "gather");
  OnnxBuilder::set_type(*b.graph().add_output(), "y", {"1"});
  const std::string model = folder.path("model.onnx"), said = folder.path("said");
  std::ofstream(model, std::ios::binary) << b.bytes();
  const std::string line = PLACETO_CLI " run " + model;
  const auto status = [&](const std::string& more) {
    return WEXITSTATUS(std::system((line + more + " >" + said + " 2>&1").c_str()));
  };
  CHECK(status("") != 0);
  const std::string why = "; its input 'index' was made up (--input)";
  CHECK_MESSAGE(test::bytes_of(said).find(why) != std::string::npos, test::bytes_of(said));
  CHECK(status(" --input index=3") != 0);
  CHECK(test::bytes_of(said).find("made up") == std::string::npos);
  CHECK(status(" --input index=0 --runs 1") == 0);
}

TEST_CASE("run refuses what only a stream takes where there is none") {
  const Folder folder;
  const std::string line = PLACETO_CLI " run " + write_stages(folder) + " --runs 1 --mode latency";
  CHECK(std::system((line + " >" + folder.path("said")).c_str()) == 0);
  for (const char* option : {" --in-flight 2", " --replicas 2"}) {
    const std::string said = " >" + folder.path("said") + " 2>&1";
    CHECK(WEXITSTATUS(std::system((line + option + said).c_str())) == 2);
  }
}

TEST_CASE("run refuses a tune.json that tune did not write") {
  const Folder folder;
  const std::string stages = write_stages(folder), said = folder.path("said");
  std::ofstream(stages + "/tune.json") << "{}";
  const int status = std::system((PLACETO_CLI " run " + stages + " 2>" + said).c_str());
  CHECK(WEXITSTATUS(status) == 3);
  std::string text;
  std::getline(std::ifstream(said), text);
  CHECK_MESSAGE(text.find("tune.json: expected what tune writes") != std::string::npos, text);
}

#ifdef PLACETO_MISSING_ENGINE
TEST_CASE("what needs the engine says where it was looked for, if it is not found") {
  const Folder folder;
  const std::string said = folder.path("said"), out = folder.path("out");
  std::ofstream(folder.path("t.json")) << R"({"format_version": 1,
      "devices": [{"kind": "cpu", "name": "cpu:0"}]})";
  const std::string stages = write_stages(folder), model = " " + stages + "/stage_0.onnx";
  const std::string machine = " " + folder.path("t.json");
  for (const auto& [command, expected] :
       {std::pair("run " + stages, 2),
        {"tune" + model + " -t" + machine + " -o " + out, 2},
        {"measure" + machine + " -o " + out, 0}}) {  // with a note, and less measured
    const std::string line =
        "LD_PRELOAD=" PLACETO_MISSING_ENGINE " " PLACETO_CLI " " + command + " 2>" + said;
    const int status = std::system(line.c_str());
    CHECK(WEXITSTATUS(status) == expected);
    std::string text;
    std::getline(std::ifstream(said), text, '\0');
    CHECK_MESSAGE(text.find("ONNX Runtime cannot be loaded, neither ") != std::string::npos, text);
  }
}
#endif

}  // namespace
}  // namespace placeto
