// Run times that were measured: import, calibrate, verify.
#include <doctest/doctest.h>

#include "tests/cli/model_files.h"

using namespace placeto::test;
using nlohmann::json;

namespace {

std::string profile_event(const std::string& name, const std::string& op, int ts, int dur) {
  return json{{"cat", "Node"},
              {"ts", ts},
              {"dur", dur},
              {"name", name + "_kernel_time"},
              {"args", {{"op_name", op}}}}
      .dump();
}

// Two runs; conv, relu and pool took 50, 7 and 9 us in the second one, flatten and fc 1 and 4.
std::string small_profile() {
  std::string text = "[";
  int ts = 0;
  for (int run = 0; run < 2; ++run) {
    for (const auto& [name, op, dur] :
         {std::tuple{"conv", "Conv", 50}, std::tuple{"relu", "Relu", 7},
          std::tuple{"pool", "GlobalAveragePool", 9}, std::tuple{"flatten", "Flatten", 1},
          std::tuple{"fc", "Gemm", 4}}) {
      text += (ts == 0 ? "" : ",\n") + profile_event(name, op, ts, run == 0 ? 500 : dur);
      ts += 1000;
    }
  }
  return text + "]";
}

}  // namespace

TEST_CASE_FIXTURE(ModelScene, "profiles of other engines are told by what they hold") {
  const std::string trt = add("trt.json", R"([{"count": 9},
    {"name": "conv + relu", "averageMs": 0.5}, {"name": "fc", "medianMs": 0.25}])");
  const std::string openvino =
      add("ov.csv", "layerName;execStatus;realTime (ms)\nconv;EXECUTED;2\nfc;EXECUTED;1\n");
  const json said = run_json({"import", model, "--dim", "batch=1", "--profile", "gpu=" + trt,
                              "--profile", "npu=" + openvino, "-o", "graph.json", "--json"});
  CHECK(said.at("profiles").at(0).at("profiled_us") == 750.0);
  CHECK(said.at("profiles").at(1).at("matched_share") == 1.0);
  const json graph = json::parse(read("graph.json"));
  CHECK(graph.at("kinds") == json({"gpu", "npu"}));
  CHECK(graph.at("nodes").at(0).at("cost_us").at(0).get<double>() > 450);
  CHECK(graph.at("nodes").at(0).at("cost_us").at(1) == 2000.0);
  CHECK(graph.at("nodes").at(4).at("cost_us") == json({250.0, 1000.0}));
}

TEST_CASE_FIXTURE(ModelScene, "profiles and tables become costs by kind") {
  const std::string profile = add("cpu.json", small_profile());
  const std::string table = add("gpu.csv",
                                "node,kind,us\nconv,gpu,5\nrelu,gpu,1\npool,gpu,1\nflatten,gpu,0\n"
                                "fc,gpu,-1\n");
  const json said = run_json({"import", model, "--dim", "batch=1", "--profile", "cpu=" + profile,
                              "--costs", table, "-o", "graph.json", "--json"});
  CHECK(said.at("profiles").at(0).at("matched_share") == 1.0);
  CHECK(said.at("profiles").at(0).at("profiled_us") == 71.0);
  const json graph = json::parse(read("graph.json"));
  CHECK(graph.at("kinds") == json({"cpu", "gpu"}));
  CHECK(graph.at("nodes").at(0).at("cost_us") == json({50.0, 5.0}));
  CHECK(graph.at("nodes").at(4).at("cost_us") == json({4.0, -1.0}));
  before = files();
  fails({"import", model, "--dim", "batch=1", "--profile", profile, "-o", "g.json"}, 2,
        "KIND=FILE");
  fails({"import", model, "--dim", "batch=1", "--profile",
         "gpu=" + add("trt.json", "[{\"count\": 9}, {\"name\": \"conv\"}]"), "-o", "g.json"},
        3, "trt.json: entry 1");
  fails({"import", model, "--dim", "batch=1", "--profile", "gpu=" + table, "-o", "g.json"}, 3,
        "gpu.csv: is no profile that is known");
  fails({"import", model, "--dim", "batch=1", "--costs", add("part.csv", "conv,cpu,1\n"), "-o",
         "g.json"},
        3, "'relu'");
  fails({"import", model, "--dim", "batch=1", "--costs", add("odd.csv", "cnov,cpu,1\n"), "-o",
         "g.json"},
        3, "odd.csv: line 1");
}

TEST_CASE_FIXTURE(ModelScene, "a profile at another batch size is refused") {
  std::string text = "[";
  for (const auto& [name, op, shape, ts] :
       {std::tuple{"conv", "Conv", std::vector<int>{2, 16, 16, 16}, 0},
        std::tuple{"relu", "Relu", std::vector<int>{2, 16, 16, 16}, 10},
        std::tuple{"fc", "Gemm", std::vector<int>{2, 10}, 20}}) {
    json event = json::parse(profile_event(name, op, ts, 9));
    event["args"]["output_type_shape"] = {{{"float", shape}}};
    text += (ts == 0 ? "" : ",") + event.dump();
  }
  const std::string profile = add("cpu.json", text + "]");
  const auto import = [&](const std::string& batch) {
    return std::vector<std::string>{
        "import",         model, "--dim",     "batch=" + batch, "--profile",
        "cpu=" + profile, "-o",  "graph.json"};
  };
  fails(import("1"), 3, "cpu.json: was measured at other shapes");
  CHECK(run(import("2")).err == "");
}

TEST_CASE_FIXTURE(ModelScene, "run times are said to be unlike where only some were measured") {
  const std::string profile = add("cpu.json", small_profile());
  const std::string table =
      add("gpu.csv", "conv,gpu,5\nrelu,gpu,1\npool,gpu,1\nflatten,gpu,0\nfc,gpu,-1\n");
  const std::vector<std::string> some = {model,     "-t",        topology,        "--dim",
                                         "batch=1", "--profile", "cpu=" + profile};
  const auto said = [&](const char* command, std::vector<std::string> more = {}) {
    more.insert(more.begin(), some.begin(), some.end());
    more.insert(more.begin(), command);
    const Run result = run(more);
    CHECK_MESSAGE(result.status == 0, result.err);
    return result.err;
  };
  const std::string unlike = model + " on " + topology +
                             ": numbers of unlike sources are compared: run times: cpu measured, "
                             "gpu estimated\n";
  CHECK(said("place", {"-o", "p.json"}) == "placeto: note: " + unlike);
  CHECK(said("place", {"--json"}) == "placeto: note: " + unlike);
  CHECK(said("compare", {"--methods", "single"}) == "placeto: note: " + unlike);
  CHECK(said("simulate", {"-p", "p.json"}) == "placeto: note: " + unlike);
  const std::string note =
      "numbers of unlike sources are compared: run times: cpu measured, gpu estimated";
  const auto object = [&](const char* command, std::vector<std::string> more) {
    more.insert(more.begin(), some.begin(), some.end());
    more.insert(more.begin(), {command, "--json"});
    return json::parse(run(more).out);
  };
  CHECK(object("place", {}).at("note") == note);
  CHECK(json::parse(read("p.json")).at("note") == note);
  CHECK(object("simulate", {"-p", "p.json"}).at("note") == note);
  CHECK(object("compare", {"--methods", "single"}).at("cases").at(0).at("note") == note);
  CHECK(said("place", {"--costs", table}) == "");  // both are measured
  CHECK(!object("place", {"--costs", table}).contains("note"));
  const json others = object("simulate", {"-p", "p.json", "--costs", table}).at("note");
  CHECK(others.get<std::string>().find("unlike sources") == std::string::npos);
  const std::string rates = add("rates.json", R"({"format_version": 1, "devices": [
      {"name": "cpu:0", "kind": "cpu", "peak_flops": 1e11, "memory_bandwidth": 2e10,
       "flops_source": "measured"},
      {"name": "gpu:0", "kind": "gpu", "peak_flops": 1e13, "memory_bandwidth": 4e11,
       "flops_source": "guess"}], "default_link": {"bandwidth_bytes_per_us": 10000}})");
  const Run estimated = run({"place", model, "-t", rates, "--dim", "batch=1"});
  CHECK(estimated.err.find("run times") == std::string::npos);
  const std::string compared = "compared: rates: gpu:0 guess, cpu:0 measured";
  CHECK(estimated.err.find(compared) != std::string::npos);
  const Run machine = run({"place", model, "-t", rates, "--dim", "batch=1", "--json"});
  CHECK(json::parse(machine.out).at("note") == "numbers of unlike sources are " + compared);
}

TEST_CASE_FIXTURE(ModelScene, "verify takes what a model was placed with, by either option") {
  OnnxBuilder b = control_flow_model();
  auto& branch = *b.graph().mutable_node(1)->mutable_attribute(0)->mutable_g();
  OnnxBuilder::add_node(branch, "Neg", {"a"}, {"n"});
  branch.mutable_output(0)->set_name("n");
  const std::string flow = add("flow.onnx", b.bytes());
  CHECK(run({"place", flow, "-t", topology, "-m", "single", "-o", "p.json", "--set", "c=true"})
            .status == 0);
  // The branch that was taken ends with a node that the engine names after its output.
  write("record.json", "[" + profile_event("y_nchwc", "Neg", 1, 5) + "]");
  for (const char* option : {"--model", "-g"}) {
    const Run unset = run({"verify", "p.json", "record.json", option, flow});
    CHECK(unset.status == 3);
    CHECK(unset.err.find("every --set") != std::string::npos);
    const Run said = run({"verify", "p.json", "record.json", option, flow, "--set", "c=true",
                          "--provider", "gpu=cuda", "--json"});
    const json report = json::parse(said.out);
    CHECK_MESSAGE(report.at("as_planned").get<int>() + report.at("differences").size() == 1,
                  said.err);
  }
}

TEST_CASE_FIXTURE(ModelScene, "a profile of a kind that no device is of is refused") {
  const std::string profile = add("cpu.json", small_profile());
  const auto options = [&](const char* command, const std::string& kind) {
    return std::vector<std::string>{command, model,     "-t",        topology,
                                    "--dim", "batch=1", "--profile", kind + "=" + profile};
  };
  const std::string text = "the topology has no device of kind 'npu'; devices are of cpu, gpu";
  fails(options("place", "npu"), 2, text);
  fails(options("compare", "npu"), 2, text);
  fails(options("place", "cpu:0"), 2, "no device of kind 'cpu:0'");
  CHECK(run(options("place", "gpu")).status == 0);
  const std::string other = add("other.json", R"({"format_version": 1, "devices": [
      {"name": "npu:0", "kind": "npu", "peak_flops": 1e11, "memory_bandwidth": 2e10}],
      "default_link": {"bandwidth_bytes_per_us": 10000}})");
  CHECK(run({"compare", model, "-t", topology, other, "--dim", "batch=1", "--methods", "single",
             "--profile", "npu=" + profile})
            .status == 0);
}

TEST_CASE_FIXTURE(ModelScene, "run times of kinds that no device has are refused, or told of") {
  const auto table = [&](const std::string& file, const std::vector<std::string>& kinds) {
    std::string text = "node,kind,us\n";
    for (const std::string& kind : kinds) {
      for (const char* node : {"conv", "relu", "pool", "flatten", "fc"}) {
        text += node + ("," + kind) + ",3\n";
      }
    }
    return std::vector<std::string>{"place",   model,           "-t", topology, "--dim", "batch=1",
                                    "--costs", add(file, text), "-m", "single"};
  };
  fails(table("wrong.csv", {"CPU"}), 2,
        "--costs: the topology has no device of kind 'CPU'; devices are of cpu, gpu");
  const Run mixed = run(table("mixed.csv", {"CPU", "gpu"}));
  CHECK(mixed.status == 0);
  CHECK(mixed.err.find("run times on 'CPU' are not used: devices are of 'cpu' and 'gpu'") !=
        std::string::npos);
}

TEST_CASE_FIXTURE(ModelScene, "calibrate fits a kind, and import estimates with what it wrote") {
  const std::string profile = write("cpu.json", small_profile());
  const json fit = run_json({"calibrate", model, "--dim", "batch=1", "--profile", "cpu=" + profile,
                             "--kind", "cpu", "-t", topology, "-o", "fit.json", "--json"});
  CHECK(fit.at("peak_flops") == 1e11);
  const json row = fit.at("graphs").at(0);
  CHECK(row.at("measured_us") == 71.0);
  CHECK(row.at("after").at("median_factor") < row.at("before").at("median_factor"));
  const json written = json::parse(read("fit.json"));
  CHECK(written.at("kind") == "cpu");
  CHECK(written.at("classes").at("conv").at("flops") > 0);
  CHECK(run({"import", model, "--dim", "batch=4", "--efficiencies", path("fit.json"), "-o",
             "graph.json"})
            .status == 0);
  CHECK(json::parse(read("graph.json")).at("kinds") == json({"cpu"}));
  const Run table = run({"calibrate", path("graph.json"), "--kind", "cpu", "-o", "again.json"});
  CHECK(table.out.find(" \n") == std::string::npos);
  before = files();
  fails({"inspect", "fit.json"}, 3, "fit.json: is what calibrate wrote, for --efficiencies");
  fails({"import", model, "--dim", "batch=4", "--efficiencies", topology, "-o", "x.json"}, 3,
        "is a topology, expected what calibrate wrote");
  fails({"calibrate", model, "--dim", "batch=1", "--kind", "cpu", "-o", "x.json"}, 3,
        "no run times on kind 'cpu'");
  fails({"calibrate", path("graph.json"), "--kind", "npu", "-o", "x.json"}, 3, "'npu'");
  // What it fits to has to be measured, or not known to be estimated.
  fails({"calibrate", model, "--dim", "batch=1", "--efficiencies", path("fit.json"), "--kind",
         "cpu", "-o", "x.json"},
        2, "--efficiencies");
  const auto unknown = run({"calibrate", path("graph.json"), "--kind", "cpu", "-o", "again.json"});
  CHECK(unknown.status == 0);
  CHECK(unknown.err.find("does not say which run times were measured") != std::string::npos);
}

TEST_CASE_FIXTURE(SmallScene,
                  "calibrate takes the rates that are given before those of a topology") {
  json measured = json::parse(small_graph());
  measured["kinds"] = {"cpu"};
  for (json& node : measured["nodes"]) node["flops"] = 1000, node["measured"] = 1;
  write("m.json", measured.dump());
  write("t.json", R"({"format_version": 1, "devices": [
      {"name": "cpu:0", "kind": "cpu", "peak_flops": 1e11, "memory_bandwidth": 2e10}],
      "default_link": {"bandwidth_bytes_per_us": 1}})");
  const std::vector<std::string> fit{"calibrate", "m.json", "--kind", "cpu", "-o", "fit.json"};
  const auto with = [&](const std::vector<std::string>& more) {
    std::vector<std::string> line = fit;
    line.insert(line.end(), more.begin(), more.end());
    return line;
  };
  const json one = run_json(with({"-t", "t.json", "--peak-flops", "5T", "--json"}));
  CHECK(one.at("peak_flops") == 5e12);
  CHECK(one.at("memory_bandwidth") == 2e10);
  const Run all = run(with({"-t", "t.json", "--peak-flops", "5T", "--memory-bandwidth", "240GB"}));
  CHECK(all.status == 2);
  CHECK_MESSAGE(all.err.find("--topology: says the peak rates") != std::string::npos, all.err);
  const std::string help = run({"help", "calibrate"}).out;
  CHECK(help.find("those given, else those") < help.find("or else the highest"));
}

TEST_CASE_FIXTURE(SmallScene, "calibrate uses a graph once, whatever its file is called") {
  json measured = json::parse(small_graph());
  measured["kinds"] = {"cpu"};
  for (json& node : measured["nodes"]) node["flops"] = 1000, node["measured"] = 1;
  write("m.json", measured.dump());
  std::filesystem::create_symlink("m.json", path("link.json"));
  for (const char* name : {"m.json", "./m.json", "link.json"}) {
    const Run fit = run({"calibrate", "m.json", name, "--kind", "cpu", "-o", "fit.json", "--json"});
    REQUIRE_MESSAGE(fit.status == 0, fit.err);
    const json graphs = json::parse(fit.out).at("graphs");
    CHECK(graphs.size() == 1);
    CHECK_FALSE(graphs.at(0).contains("left_out"));
    CHECK_MESSAGE(fit.err.find("is given twice, and is used once") != std::string::npos, fit.err);
  }
}
