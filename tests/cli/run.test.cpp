// placeto verify and run, as far as no engine is needed.
#include <string>

#include "tests/cli/runner.h"

namespace placeto::test {
namespace {

const char* kNames = R"({"graph": "g", "topology": "t", "devices": {"gpu:0": ["a", "b"]},
  "nodes": {"a": "gpu:0", "b": "gpu:0"}})";

std::string profile(const std::string& provider_of_b) {
  return R"([{"cat": "Node", "name": "a_kernel_time", "ts": 1, "dur": 5,
    "args": {"op_name": "Conv", "provider": "CUDAExecutionProvider"}},
    {"cat": "Node", "name": "b_kernel_time", "ts": 7, "dur": 5,
    "args": {"op_name": "Resize", "provider": ")" +
         provider_of_b + "\"}}]";
}

TEST_CASE("verify ends with 1 and names what ran elsewhere") {
  const Workplace place;
  place.write("plan.json", kNames);
  place.write("good.json", profile("CUDAExecutionProvider"));
  place.write("bad.json", profile("CPUExecutionProvider"));
  CHECK(place.run({"verify", "plan.json", "good.json"}).status == 0);
  const Run bad = place.run({"verify", "plan.json", "bad.json"});
  CHECK(bad.status == 1);
  CHECK(bad.out.find("Resize") != std::string::npos);
  const Run json = place.run({"verify", "plan.json", "bad.json", "--json"});
  CHECK(json.status == 1);
  const auto report = nlohmann::json::parse(json.out);
  CHECK(report["as_planned"] == 1);
  CHECK(report["differences"][0]["node"] == "b");
  CHECK(report["differences"][0]["provider"] == "CPUExecutionProvider");
  CHECK(report["exit_status"] == 1);
  CHECK(report["status"] == "not as planned");
}

TEST_CASE("verify does not pass nodes that only the model could tell") {
  const Workplace place;
  place.write("plan.json", kNames);
  const std::string good = profile("CUDAExecutionProvider");
  const auto with = [&](const std::string& op) {
    return good.substr(0, good.size() - 1) + R"(, {"cat": "Node", "name": "token_1_kernel_time",
        "ts": 13, "dur": 5, "args": {"op_name": ")" +
           op + R"(", "provider": "CPUExecutionProvider"}}])";
  };
  place.write("copied.json", with("MemcpyToHost"));
  place.write("fused.json", with("FusedConv"));
  CHECK(place.run({"verify", "plan.json", "copied.json"}).status == 0);
  const Run fused = place.run({"verify", "plan.json", "fused.json", "--json"});
  CHECK(fused.status == 1);
  const auto report = nlohmann::json::parse(fused.out);
  CHECK(report["unknown"] == 1);
  CHECK(report["error"].get<std::string>().find("--model MODEL.onnx") != std::string::npos);
}

TEST_CASE("verify refuses what it would not look at") {
  const Workplace place;
  place.write("plan.json", kNames);
  place.write("good.json", profile("CUDAExecutionProvider"));
  const Run with_model = place.run({"verify", "plan.json", "good.json", "--model", "none.onnx"});
  CHECK(with_model.status == 2);
  CHECK_MESSAGE(with_model.err.find("takes no --model") != std::string::npos, with_model.err);
  CHECK(place.run({"verify", "p.plpo", "-k", "k.pub", "--provider", "gpu=cuda"}).status == 2);
}

TEST_CASE("verify reads plans and records from standard input, and calls it that") {
  const Workplace place;
  place.write("plan.json", kNames);
  place.write("good.json", profile("CUDAExecutionProvider"));
  const auto shell = [&place](const std::string& line) {
    return std::system(
        ("cd " + place.path(".") + " && placeto=" PLACETO_CLI " && " + line).c_str());
  };
  CHECK(shell("$placeto verify plan.json - <good.json >said") == 0);
  CHECK(shell("$placeto verify - good.json <plan.json >said") == 0);
  CHECK(shell("echo x | $placeto verify plan.json - 2>said; [ $? = 3 ]") == 0);
  CHECK(place.read("said").find("standard input: ") != std::string::npos);
  CHECK(shell("$placeto verify - --public-key x.pub <plan.json 2>said; [ $? = 2 ]") == 0);
}

TEST_CASE("a manifest is told by what it holds, and has to have its folder") {
  const Workplace place;
  place.write("plan.json", R"({"format_version": 1, "model": "m.onnx", "stages": 3})");
  place.write("good.json", profile("CUDAExecutionProvider"));
  const Run named = place.run({"verify", place.path("plan.json"), place.path("good.json")});
  CHECK(named.status == 3);
  CHECK_MESSAGE(named.err.find("manifest.graph: expected a string") != std::string::npos,
                named.err);
  const auto shell = [&place](const std::string& line) {
    return std::system(
        ("cd " + place.path(".") + " && placeto=" PLACETO_CLI " && " + line).c_str());
  };
  place.write("plan", "\n" + place.read("plan.json"));
  const Run run = place.run({"run", place.path("plan")});
  CHECK_MESSAGE(run.err.find("manifest.graph: expected a string") != std::string::npos, run.err);
  for (const char* command : {"verify - good.json", "run -"}) {
    CHECK(shell("$placeto " + std::string(command) + " <plan.json 2>said; [ $? = 2 ]") == 0);
    CHECK_MESSAGE(place.read("said").find("whose stages lie beside it") != std::string::npos,
                  place.read("said"));
  }
}

TEST_CASE("verify refuses a provider for a device or kind that the plan lacks") {
  const Workplace place;
  place.write("plan.json", kNames);
  place.write("good.json", profile("CUDAExecutionProvider"));
  for (const char* fits : {"gpu=cuda", "gpu:0=cuda"}) {
    CHECK(place.run({"verify", "plan.json", "good.json", "--provider", fits}).status == 0);
  }
  for (const char* lacks : {"npu=cuda", "gpu:1=cuda", "cuda"}) {
    const Run run = place.run({"verify", "plan.json", "good.json", "--provider", lacks});
    CHECK_MESSAGE(run.status == 2, lacks);
    CHECK_MESSAGE(run.err.find(lacks) != std::string::npos, run.err);
  }
}

TEST_CASE("verify refuses a provider that there is not, and lists those that there are") {
  const Workplace place;
  place.write("plan.json", kNames);
  place.write("good.json", profile("CUDAExecutionProvider"));
  for (const char* wrong : {"gpu=cppu", "gpu:0=tenosrrt"}) {
    const Run run = place.run({"verify", "plan.json", "good.json", "--provider", wrong});
    CHECK_MESSAGE(run.status == 2, wrong);
    CHECK_MESSAGE(run.err.find("cpu, cuda, tensorrt (trt), directml (dml)") != std::string::npos,
                  run.err);
  }
  for (const char* other : {"gpu=trt", "gpu=MyExecutionProvider", "gpu=OV"}) {
    CHECK(place.run({"verify", "plan.json", "good.json", "--provider", other}).status == 1);
  }
  for (const char* fits : {"gpu=gpu", "gpu=gpu:0", "gpu=CUDA"}) {
    CHECK(place.run({"verify", "plan.json", "good.json", "--provider", fits}).status == 0);
  }
}

TEST_CASE("verify ends with 1 when no record has a node of a stage, and names it") {
  const SmallScene place;
  place.write("placement.json", R"({"format_version": 1, "graph": "small", "topology": "pair",
    "devices": ["gpu:0", "gpu:1"], "assignment": [0, 0, 0, 1, 1, 0],
    "stages": [0, 0, 0, 1, 1, 2], "order": [0, 1, 2]})");
  const auto event = [](const std::string& name) {
    return R"({"cat": "Node", "name": ")" + name + R"(_kernel_time", "ts": )" +
           std::to_string(10 * name[0]) + R"(, "dur": 5,
      "args": {"provider": "CUDAExecutionProvider"}})";
  };
  place.write("first.json", "[" + event("a") + "]");
  place.write("rest.json", "[" + event("e") + "]");
  place.write("last.json", "[" + event("f") + "]");
  place.write("whole.json", "[" + event("a") + "," + event("f") + "]");
  const auto verify = [&](std::vector<std::string> records) {
    records.insert(records.begin(), {"verify", "placement.json", "-g", place.graph, "--json"});
    const Run run = place.run(records);
    auto report = nlohmann::json::parse(run.out, nullptr, false);
    REQUIRE_MESSAGE(report.is_object(), run.err);
    report["exit"] = run.status;
    return report;
  };
  const auto part = verify({"first.json", "first.json"});
  CHECK(part["exit"] == 1);
  CHECK(part["as_planned"] == 1);
  CHECK(part["not_run"] == nlohmann::json({"stage 1", "stage 2"}));
  CHECK(part["error"].get<std::string>().find("stage 1, stage 2") != std::string::npos);
  CHECK(verify({"first.json", "rest.json", "last.json"})["exit"] == 0);
  CHECK(verify({"whole.json"})["exit"] == 0);  // one session, which may fold a stage
}

TEST_CASE(
    "a session that ran and folded all of its nodes is a record, one that did not run is none") {
  const Workplace place;
  place.write("plan.json", kNames);
  place.write("good.json", profile("CUDAExecutionProvider"));
  place.write("folded.json", R"([{"cat": "Session", "name": "model_run", "ts": 1, "dur": 5}])");
  place.write("idle.json",
              R"([{"cat": "Session", "name": "model_loading_uri", "ts": 1, "dur": 5}])");
  CHECK(place.run({"verify", "plan.json", "good.json", "folded.json"}).status == 0);
  CHECK(place.run({"verify", "plan.json", "folded.json"}).status == 3);
  const Run idle = place.run({"verify", "plan.json", "good.json", "idle.json"});
  CHECK(idle.status == 3);
  CHECK(idle.err.find("idle.json: holds no event of a node") != std::string::npos);
}

TEST_CASE("verify says what it lacks") {
  const Workplace place;
  place.write("plan.json", kNames);
  CHECK(place.run({"verify", "plan.json"}).status == 2);
  CHECK(place.run({"verify", "plan.json", "no such file"}).status == 3);
  place.write("other.json", R"([{"cat": "Node", "name": "z_kernel_time", "ts": 1, "dur": 5}])");
  const Run other = place.run({"verify", "plan.json", "other.json"});
  CHECK(other.status == 3);
  CHECK(other.err.find("names no node of") != std::string::npos);
}

TEST_CASE("run refuses what is no manifest, with the place") {
  const Workplace place;
  const Run nothing = place.run({"run", place.path("nothing")});
  CHECK(nothing.status == 3);
  CHECK(nothing.err.find("cannot open: No such file") != std::string::npos);
  place.write("manifest.json", R"({"format_version": 1, "model": 5})");
  const Run bad = place.run({"run", place.path("manifest.json")});
  CHECK(bad.status == 3);
  CHECK(bad.err.find("manifest.model: expected a string") != std::string::npos);
}

}  // namespace
}  // namespace placeto::test
