// Every field that --json prints of ONNX models is in tools/cli/README.md.
#include <doctest/doctest.h>

#include "tests/cli/model_files.h"
#include "tests/support/described_fields.h"

using namespace placeto::test;
using nlohmann::json;

namespace {

constexpr const char* kShared = "inspect, import: an ONNX model";

}  // namespace

TEST_CASE_FIXTURE(ModelFiles, "every field of what is printed of a model is described") {
  const auto prints = [&](const std::vector<std::string>& arguments,
                          const std::vector<std::string>& headings) {
    INFO(arguments[0]);
    const json object = run_json(arguments);
    check_described(object, described_below(headings));
    return object;
  };
  const std::string profile = write("cpu.json", R"([
      {"cat": "Node", "ts": 1, "dur": 50, "name": "conv_kernel_time", "args": {"op_name": "Conv"}},
      {"cat": "Node", "ts": 60, "dur": 4, "name": "fc_kernel_time", "args": {"op_name": "Gemm"}}])");
  const json imported = prints({"import", model, "--dim", "batch=1", "--profile", "cpu=" + profile,
                                "-o", "g.json", "--json"},
                               {"import", kShared});
  CHECK(imported.at("profiles").size() == 1);
  prints({"inspect", model, "--json"}, {"inspect", "inspect: an ONNX model", kShared});
  REQUIRE(run({"place", model, "--dim", "batch=1", "-t", topology, "-o", "p.json"}).status == 0);
  prints({"export", "p.json", "--model", model, "--split", "stages", "--json"}, {"export"});
  prints({"export", "p.json", "--model", model, "-f", "ort-names", "--json"}, {"export"});
  prints({"export", "p.json", "--model", model, "-f", "ort-annotations", "-o", "annotated.onnx",
          "--json"},
         {"export"});
}

TEST_CASE_FIXTURE(ModelFiles, "fields of what is unknown of a model, or inlined, are described") {
  OnnxBuilder b;
  b.input("x", {"4"});
  b.node("Unheard", {"x"}, {"y"}, "odd");
  b.output("y");
  const std::string odd = write("odd.onnx", b.bytes());
  const auto inspected = described_below({"inspect", "inspect: an ONNX model", kShared});
  for (const std::vector<std::string>& command :
       {std::vector<std::string>{"inspect", odd, "--json"},
        {"import", odd, "-o", "g.json", "--json"}}) {
    const json object = json::parse(run(command).out);
    CHECK(object.at("unknown").size() == 1);
    check_described(object,
                    command[0] == "import" ? described_below({"import", kShared}) : inspected);
  }
  const std::string branches = write("branches.onnx", control_flow_model().bytes());
  const json object = run_json({"inspect", branches, "--set", "c=true", "--json"});
  CHECK(object.at("inlined").size() == 1);
  check_described(object, inspected);
  for (const std::vector<std::string>& command :
       {std::vector<std::string>{"inspect", branches},
        {"import", branches, "--dim", "*=1", "-o", "g.json"}}) {
    const std::string noted = run(command).err;
    CHECK(noted.find("placeto: note: " + branches + ": 1 If node") == 0);
    CHECK(noted.find("--set 'c=VALUE'") != std::string::npos);
    std::vector<std::string> as_json = command;
    as_json.emplace_back("--json");
    const Run open = run(as_json);
    CHECK(open.err == noted);
    const json printed = json::parse(open.out);
    CHECK(printed.at("undecided").size() == 1);
    check_described(printed,
                    command[0] == "import" ? described_below({"import", kShared}) : inspected);
  }
}
