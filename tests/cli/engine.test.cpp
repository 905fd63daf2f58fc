// What `place --engine` makes of an engine's description.
#include <doctest/doctest.h>
#include <sys/stat.h>

#include "tests/cli/runner.h"

using namespace placeto::test;
using nlohmann::json;

namespace {

// Four operators in a row; "gpu" runs all of them ten times faster.
std::string engine_graph() {
  json graph{{"format_version", 1}, {"name", "row"}, {"kinds", {"cpu", "gpu"}}};
  for (const char* op : {"Conv", "NonMaxSuppression", "MyOwn", "Relu"}) {
    graph["nodes"].push_back(
        {{"name", op}, {"op", op}, {"cost_us", {1000, 100}}, {"outputs", {8}}});
    const size_t last = graph["nodes"].size() - 1;
    if (last > 0) graph["edges"].push_back({{"source", last - 1}, {"target", last}});
  }
  return graph.dump();
}

struct EngineScene : SmallScene {
  std::string pair = write("pair.json", R"({"format_version": 1, "devices": [
      {"name": "cpu:0", "kind": "cpu"}, {"name": "gpu:0", "kind": "gpu"}],
      "default_link": {"bandwidth_bytes_per_us": 1000}})");
};

}  // namespace

TEST_CASE_FIXTURE(EngineScene,
                  "what a provider lacks is not placed on it, and the note says which") {
  const std::string row = write("row.json", engine_graph());
  const json placed = run_json(
      {"place", row, "-t", pair, "--engine", "onnxruntime", "--provider", "gpu=cuda", "--json"});
  CHECK(placed.at("assignment") == json({1, 0, 1, 1}));
  CHECK(placed.at("stages") == json({0, 1, 2, 2}));
  const std::string note = placed.at("note");
  CHECK(note.find("cuda on gpu:0 lacks NonMaxSuppression (1): not placed there") !=
        std::string::npos);
  CHECK(note.find("cuda on gpu:0 runs MyOwn (1) is not known: allowed") != std::string::npos);

  const Run none =
      run({"place", row, "-t", pair, "--engine", "onnxruntime", "--provider", "gpu=metal"});
  CHECK(none.status == 2);
  CHECK(none.err.find("has no provider 'metal'") != std::string::npos);
  const Run nowhere =
      run({"place", row, "-t", pair, "--engine", "onnxruntime", "--provider", "npu=cuda"});
  CHECK(nowhere.err.find("'npu=cuda': expected DEVICE=VALUE") != std::string::npos);
  CHECK(run({"place", row, "-t", pair, "--engine", "nothing"}).status == 3);
}

TEST_CASE_FIXTURE(EngineScene, "inspect shows an engine, built in or a file, and what is wrong") {
  const json engine = run_json({"inspect", "onnxruntime", "--json"});
  CHECK(engine.at("kind") == "engine");
  CHECK(engine.at("execution") == "staged");
  CHECK(engine.at("prices").size() == 2);
  const std::string shown = run({"inspect", "onnxruntime"}).out;
  for (const char* said : {"onnxruntime 1.30", "staged", "5%", "every other", "directml"}) {
    CHECK_MESSAGE(shown.find(said) != std::string::npos, shown);
  }
  CHECK(run_json({"inspect", "generic", "--json"}).at("execution").is_null());
  const std::string own = write("own.json", R"({"format_version": 1, "name": "own", "providers":
    {"any": {}, "npu": {"operators": {"ai.onnx": {"Add": [], "Mul": [{"opset": [7]}]}}}}})");
  const json described = run_json({"inspect", own, "--json"});
  CHECK(described.at("providers").at(0).at("runs_all") == true);
  CHECK(described.at("providers").at(1).at("domains") ==
        json{{"ai.onnx", {{"operators", 2}, {"by_version_or_type", 1}}}});
  CHECK(run({"inspect", own}).out.find("as the topology says") != std::string::npos);
  const std::string wrong = write("wrong.json", R"({"providers": {}, "tolerance": -1})");
  const Run refused = run({"inspect", wrong});
  CHECK(refused.status == 3);
  CHECK(refused.err.find("wrong.json: format_version: expected 1") != std::string::npos);
  for (const char* fields : {R"("execution": "staged")", R"("version": "2")",
                             R"("tolerance": {"value": 0.5})", R"("operators": {})"}) {
    write("few.json", R"({"format_version": 1, "name": "x", )" + std::string(fields) + "}");
    CHECK(run_json({"inspect", "few.json", "--json"}).at("name") == "x");
    CHECK(run({"place", graph, "-t", topology, "--engine", "few.json"}).status == 0);
  }
  const Run nothing = run({"inspect", write("none.json", R"({"format_version": 1, "name": "x"})")});
  CHECK(nothing.status == 3);
  CHECK(nothing.err.find("its fields do not tell what it is") != std::string::npos);
  const Run converted = run({"convert", own, "own.bin"});
  CHECK(converted.status == 3);
  CHECK(converted.err.find("describes an engine, for --engine") != std::string::npos);
}

TEST_CASE_FIXTURE(EngineScene, "inspect says what a placement was made for and what it is worth") {
  const std::string row = write("row.json", engine_graph());
  const auto place = [&](std::vector<std::string> args) {
    args.insert(args.begin(), {"place", row, "-t", pair, "--json"});
    write("p.json", run(args).out);
    return run({"inspect", "p.json"}).out;
  };
  const std::string staged =
      place({"--engine", "onnxruntime", "--provider", "gpu=cuda", "--tolerance", "0"});
  for (const char* said : {"engine          onnxruntime", "stages          3", "proved optimal"}) {
    CHECK_MESSAGE(staged.find(said) != std::string::npos, staged);
  }
  const json seen = run_json({"inspect", "p.json", "--json"});
  CHECK(seen.at("engine") == "onnxruntime");
  CHECK(seen.at("stages") == 3);
  const std::string pipeline = place({"--objective", "throughput"});
  for (const char* said : {"bottleneck", "proved optimal", "a copy on every device", " a run"}) {
    CHECK_MESSAGE(pipeline.find(said) != std::string::npos, pipeline);
  }
}

TEST_CASE_FIXTURE(EngineScene, "compare takes the engine and the objective as place does") {
  const std::string row = write("row.json", engine_graph());
  for (const char* objective : {"latency", "throughput"}) {
    const std::vector<std::string> given = {"-t",          pair,         "--engine",
                                            "onnxruntime", "--provider", "gpu=cuda",
                                            "--objective", objective,    "--json"};
    std::vector<std::string> place = {"place", row},
                             compare = {"compare", row, "--methods", "auto"};
    place.insert(place.end(), given.begin(), given.end());
    compare.insert(compare.end(), given.begin(), given.end());
    const json placed = run_json(place), compared = run_json(compare).at("cases").at(0);
    const json& method = compared.at("methods").at(0);
    CHECK(method.at("makespan_us") == placed.at("makespan_us"));
    CHECK(method.at("bottleneck_us") == placed.at("bottleneck_us"));
    CHECK(compared.at("lower_bound_us") == placed.at("lower_bound_us"));
  }
  const Run table = run({"compare", row, "-t", pair, "--objective", "throughput"});
  CHECK_MESSAGE(table.status == 0, table.err);
  CHECK(table.out.find("bottleneck") != std::string::npos);
  CHECK(table.out.find("/ bound") == std::string::npos);
  CHECK(run({"compare", row, "-t", pair, "--provider", "gpu=cuda"}).status == 2);
}

TEST_CASE_FIXTURE(EngineScene,
                  "prices that an engine fills in are guesses beside those that were measured") {
  const std::string row = write("row.json", engine_graph());
  const std::string part = write("part.json", R"({"format_version": 1, "devices": [
      {"name": "cpu:0", "kind": "cpu", "stage_us": 2, "prices_source": "measured"},
      {"name": "gpu:0", "kind": "gpu"}], "default_link": {"bandwidth_bytes_per_us": 1000}})");
  const Run placed = run({"place", row, "-t", part, "--engine", "onnxruntime", "--json"});
  const std::string note = json::parse(placed.out).at("note");
  CHECK(note.find("prices of stages: gpu:0 guess, cpu:0 measured") != std::string::npos);
}

TEST_CASE_FIXTURE(EngineScene,
                  "where no device is left for an operator, the failure says what providers lack") {
  json lacked = json::parse(engine_graph());
  lacked["nodes"][0] = {{"name", "norm"}, {"op", "GroupNorm"}, {"domain", "com.microsoft"}};
  lacked["nodes"][0].update({{"cost_us", {1000, 100}}, {"outputs", {8}}});
  const std::string row = write("lacked.json", lacked.dump());
  const Run nowhere = run({"place", row, "-t", pair, "--engine", "onnxruntime", "--provider",
                           "gpu=cuda", "--pin", "norm=cpu:0"});
  CHECK(nowhere.status != 0);
  CHECK_MESSAGE(nowhere.err.find("cpu on cpu:0 lacks GroupNorm (1)") != std::string::npos,
                nowhere.err);
  CHECK_MESSAGE(nowhere.err.find("is not known: allowed") == std::string::npos, nowhere.err);
  const json placed = run_json(
      {"place", row, "-t", pair, "--engine", "onnxruntime", "--provider", "gpu=cuda", "--json"});
  CHECK(placed.at("assignment")[0] == 1);  // only there
}

TEST_CASE_FIXTURE(EngineScene,
                  "what a provider has in other versions or of other types is not placed on it") {
  json typed = json::parse(engine_graph());
  typed["nodes"][0].update({{"opset", 13}, {"input_types", {"bfloat16", "bfloat16"}}});
  typed["nodes"][1] = {{"op", "TopK"}, {"cost_us", {1000, 100}}, {"outputs", {8}}};
  typed["nodes"][1].update({{"opset", 11}, {"input_types", {"int8", "int64"}}});
  typed["nodes"][3].update({{"opset", 5}, {"input_types", {"float"}}, {"fused", true}});
  const std::string row = write("typed.json", typed.dump());
  const json placed = run_json(
      {"place", row, "-t", pair, "--engine", "onnxruntime", "--provider", "gpu=cuda", "--json"});
  CHECK(placed.at("assignment") == json({0, 0, 1, 0}));
  CHECK(placed.at("note").get<std::string>().find(
            "cuda on gpu:0 lacks Conv (1, of bfloat16), Relu (1, operator set 5), TopK (1, of "
            "int8): not placed there") != std::string::npos);

  const std::string binary = path("typed.plgr");  // as in the other form
  REQUIRE(run({"convert", row, binary}).status == 0);
  const json seen = run_json({"inspect", binary, "--json"});
  CHECK(seen.at("opsets") == json({5, 11, 13}));
  CHECK(seen.at("typed_nodes") == 3);
  CHECK(seen.at("fused_nodes") == 1);
  const json again = run_json(
      {"place", binary, "-t", pair, "--engine", "onnxruntime", "--provider", "gpu=cuda", "--json"});
  CHECK(again.at("note") == placed.at("note"));
}

TEST_CASE_FIXTURE(EngineScene,
                  "what was placed for an engine is simulated, shown and exported as it executes") {
  const std::string row = write("row.json", engine_graph());
  const std::string out = path("p.json");
  for (const char* objective : {"latency", "throughput"}) {
    const json placed = run_json({"place", row, "-t", pair, "--engine", "onnxruntime", "--provider",
                                  "gpu=cuda", "--objective", objective, "--json", "-o", out});
    const json simulated = run_json({"simulate", row, "-t", pair, "-p", out, "--json"});
    CHECK(simulated.at("makespan_us") == placed.at("makespan_us"));
    CHECK(simulated.at("bottleneck_us") == placed.at("bottleneck_us"));
    CHECK(simulated.at("stages").size() == 3);
    const json shown =
        run_json({"report", out, "-g", row, "-t", pair, "-o", path("r.html"), "--json"});
    CHECK(shown.at("placements")[0].at("makespan_us") == placed.at("makespan_us"));
    const json alone =
        run_json({"simulate", row, "-t", pair, "-p", out, "--engine", "none", "--json"});
    CHECK(alone.at("makespan_us") < simulated.at("makespan_us"));
    write("printed.json", placed.dump());  // what --json prints is a placement
    CHECK(run({"simulate", row, "-t", pair, "-p", path("printed.json")}).status == 0);
  }
  json moved = json::parse(read("p.json"));
  moved["engine"] = "elsewhere.json";
  const Run lost = run({"simulate", row, "-t", pair, "-p", write("moved.json", moved.dump())});
  CHECK(lost.status == 3);
  CHECK_MESSAGE(lost.err.find("--engine names another, or none") != std::string::npos, lost.err);
}

TEST_CASE_FIXTURE(EngineScene, "an engine that a placement records is not waited for") {
  const std::string out = path("p.json");
  REQUIRE(run({"place", graph, "-t", topology, "-o", out}).status == 0);
  json placed = json::parse(read("p.json"));
  REQUIRE(mkfifo(path("pipe").c_str(), 0600) == 0);
  for (const std::string& engine : {path("pipe"), std::string("/dev/zero"), std::string("/")}) {
    placed["engine"] = engine;
    write("p.json", placed.dump());
    for (const std::vector<std::string>& command :
         {std::vector<std::string>{"simulate", graph, "-t", topology, "-p", out},
          {"report", out, "-g", graph, "-t", topology, "-o", path("r.html")}}) {
      const Run refused = run(command);
      CHECK(refused.status == 3);
      CHECK_MESSAGE(refused.err.find(engine + ": expected a built-in engine or a regular file") !=
                        std::string::npos,
                    refused.err);
    }
  }
}

TEST_CASE_FIXTURE(EngineScene, "an engine's description is checked, and says where it is wrong") {
  const auto refused = [this](const std::string& text) {
    return run({"place", graph, "-t", topology, "--engine", write("engine.json", text)}).err;
  };
  CHECK(refused("{").find("is not JSON, at byte 2") != std::string::npos);
  CHECK(refused(R"({"format_version": 2})").find("format_version: expected 1") !=
        std::string::npos);
  CHECK(refused(R"({"format_version": 1, "speed": 3})").find("unknown field 'speed'") !=
        std::string::npos);
  CHECK(refused(R"({"format_version": 1, "execution": "fast"})").find("execution: expected") !=
        std::string::npos);
  CHECK(refused(R"({"format_version": 1, "prices": [{"cut_us": -1}]})")
            .find("prices[0].cut_us: expected a number") != std::string::npos);
  CHECK(refused(R"({"format_version": 1, "providers": {"x": {"operators": [1]}}})")
            .find("providers.x.operators: expected an object") != std::string::npos);
}
