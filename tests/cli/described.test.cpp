// Every field that --json prints is in tools/cli/README.md, or in that of schema. Of models:
// described_models.test.cpp; of runs: tests/engine/described_runs.test.cpp; of signatures:
// signature.test.cpp.
#include <doctest/doctest.h>

#include "runtime/policy/file/policy_file.h"
#include "tests/cli/runner.h"
#include "tests/support/described_fields.h"
#include "tests/support/small_policies.h"

using namespace placeto::test;
using nlohmann::json;

namespace {

// A place with a placement on two devices, in stages, and with links between them.
struct StagedScene : SmallScene {
  std::string staged = write("staged.json", R"({"format_version": 1, "name": "staged",
    "execution": "staged", "transfer": "unicast", "devices": [
      {"name": "cpu:0", "kind": "cpu", "stage_us": 1, "cut_us": 1, "cut_bytes_per_us": 4000},
      {"name": "cpu:1", "kind": "cpu", "stage_us": 1, "cut_us": 1, "cut_bytes_per_us": 4000}],
    "links": [{"from": "cpu:0", "to": "cpu:1", "bandwidth_bytes_per_us": 1000, "channel": "bus"},
              {"from": "cpu:1", "to": "cpu:0", "bandwidth_bytes_per_us": 1000}]})");
  std::string divided = write("divided.json", R"({"format_version": 1,
      "devices": ["cpu:0", "cpu:1"], "assignment": [0, 0, 1, 0, 0, 0]})");
  std::string split = write("split.json", R"({"format_version": 1,
      "devices": ["gpu:0", "gpu:1"], "assignment": [0, 0, 1, 0, 0, 0]})");

  // The command succeeds, and what it prints is below these headings.
  json prints(std::vector<std::string> arguments, const std::vector<std::string>& headings) const {
    arguments.push_back("--json");
    INFO(arguments[0]);
    const json object = run_json(arguments);
    check_described(object, described_below(headings));
    return object;
  }
  // The command fails, and says so in a word that the README has.
  json fails(std::vector<std::string> arguments, std::vector<std::string> headings,
             const std::string& status) const {
    arguments.push_back("--json");
    headings.push_back("Errors");
    INFO(arguments[0]);
    const json object = json::parse(run(arguments).out, nullptr, false);
    REQUIRE(object.is_object());
    check_described(object, described_below(headings));
    CHECK(object.at("status") == status);
    std::string rows;
    for (const std::string& line : lines_below("tools/cli/README.md", "Errors")) rows += line;
    CHECK(rows.find("| " + object.at("exit_status").dump() + " | `" + status + "` |") !=
          std::string::npos);
    return object;
  }
};

}  // namespace

TEST_CASE_FIXTURE(StagedScene, "every field of placements and topologies is described") {
  for (const std::string& machine : {topology, staged}) {
    for (const char* objective : {"latency", "throughput"}) {
      const json placed = run_json(
          {"place", graph, "-t", machine, "--objective", objective, "--explain", "all", "--json"});
      CHECK(placed.at("reasons").size() == 6);
      CHECK(placed.contains("place_time_us"));
      check_described(placed, described_in_schema("Placement"));
    }
  }
  check_described(run_json({"detect", "--json"}), described_in_schema("Topology"));
}

TEST_CASE_FIXTURE(StagedScene, "every field of predictions and comparisons is described") {
  const json broadcast = prints({"simulate", graph, "-t", topology, "-p", split}, {"simulate"});
  CHECK(broadcast.at("transfers").at(0).contains("channel"));
  const json run = prints({"simulate", graph, "-t", staged, "-p", divided}, {"simulate"});
  CHECK(run.at("stages").size() > 1);
  CHECK(run.at("transfers").at(0).contains("to"));
  CHECK(run.at("twice_as_fast").size() > 0);
  prints({"compare", graph, "-t", topology, staged}, {"compare"});
  prints({"report", split, split, "-g", graph, "-t", topology, "-o", "r.html"}, {"report"});
}

TEST_CASE_FIXTURE(StagedScene, "every field that inspect prints is described") {
  prints({"inspect", graph}, {"inspect", "inspect: a graph"});
  for (const std::string& machine : {topology, staged}) {
    prints({"inspect", machine}, {"inspect", "inspect: a topology"});
  }
  prints({"inspect", split}, {"inspect", "inspect: a placement"});
  prints({"inspect", "onnxruntime"}, {"inspect", "inspect: an engine"});
  const auto bytes = placeto::encode_policy(small_pairwise_policy()).value();
  const std::string policy = write("p.plpo", std::string(bytes.begin(), bytes.end()));
  prints({"inspect", policy}, {"inspect", "inspect: a policy"});
}

TEST_CASE_FIXTURE(StagedScene,
                  "every field of what is said of files that are written is described") {
  prints({"generate", "layered", "--nodes", "20", "-o", "g.json"}, {"generate"});
  prints({"generate", "--list"}, {"generate: --list"});
  prints({"convert", graph, "graph.plg"}, {"convert"});
  prints({"export", split, "-g", graph, "-f", "json"}, {"export"});
  prints({"export", split, "-g", graph, "-f", "dot", "-o", "g.dot"}, {"export"});
  json measured = json::parse(small_graph());
  measured["kinds"] = {"cpu"};
  for (json& node : measured["nodes"]) node["flops"] = 1000, node["measured"] = 1;
  const std::string one = write("measured.json", measured.dump());
  const std::string other = write("again.json", measured.dump());
  const json fit =
      prints({"calibrate", one, other, "--kind", "cpu", "-o", "c.json"}, {"calibrate"});
  CHECK(fit.at("graphs").at(0).contains("left_out"));
}

TEST_CASE_FIXTURE(StagedScene, "every field of failures, and every word for them, is described") {
  fails({"place", "none.json", "-t", topology}, {}, "bad input");
  fails({"place", graph}, {}, "bad usage");
  fails({"place", graph, "-t", topology, "-o", "-"}, {}, "bad usage");
  fails({"place", graph, "-t", topology, "-o", "none/p.json"}, {}, "internal error");
  const std::string tiny = write("tiny.json", small_topology(100));
  fails({"place", graph, "-t", tiny}, {}, "infeasible");
  write("plan.json", R"({"devices": {"gpu:0": ["a"]}, "nodes": {"a": "gpu:0"}})");
  write("record.json", R"([{"cat": "Node", "name": "a_kernel_time", "ts": 1, "dur": 5,
      "args": {"op_name": "Conv", "provider": "CPUExecutionProvider"}}])");
  const json differs = fails({"verify", "plan.json", "record.json"}, {"verify"}, "not as planned");
  CHECK(differs.at("differences").size() == 1);
}
