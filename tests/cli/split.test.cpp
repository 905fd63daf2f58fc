// Models divided into files, and what runs them.
#include <doctest/doctest.h>

#include "tests/cli/model_files.h"

using namespace placeto::test;
using nlohmann::json;

TEST_CASE_FIXTURE(ModelScene, "external weights are inputs: no output takes their place") {
  const std::string weights = write("weights.bin", std::string(24, 'w'));
  OnnxBuilder b;
  b.input("x", {"1", "2"});
  b.external("w", {2, 3});
  b.node("MatMul", {"x", "w"}, {"y"}, "product");
  b.output("y");
  b.graph().mutable_initializer(0)->mutable_external_data(0)->set_value("weights.bin");
  const std::string net = write("external.onnx", b.bytes());
  std::filesystem::create_directory(path("elsewhere"));
  std::filesystem::create_symlink(net, path("elsewhere/net.onnx"));
  REQUIRE(run({"place", net, "-t", topology, "-o", "placed.json"}).status == 0);
  REQUIRE(run({"export", "placed.json", "--model", net, "--split", "stages"}).status == 0);
  const std::string costs = write("costs.csv", "product,cpu,5\n");
  before = files();
  const auto refused = [&](const std::vector<std::string>& arguments) {
    INFO(arguments[0]);
    fails(arguments, 2, "weights.bin: is an input and would be overwritten");
    CHECK(read("weights.bin") == std::string(24, 'w'));
  };
  for (const char* output : {"-o", "--report", "--trace"}) {
    refused({"place", net, "-t", topology, output, "weights.bin"});
    refused({"place", "elsewhere/net.onnx", "-t", topology, output, weights});
  }
  refused({"import", net, "-o", "./weights.bin"});
  refused({"simulate", net, "-t", topology, "-p", "placed.json", "--trace", weights});
  refused({"report", "placed.json", "-g", net, "-t", topology, "-o", weights});
  refused({"calibrate", net, "--costs", costs, "--kind", "cpu", "-t", topology, "-o", weights});
  for (const char* format : {"json", "ort-annotations", "ort-names", "dot"}) {
    refused({"export", "placed.json", "--model", net, "-f", format, "-o", weights});
    refused({"export", "placed.json", "-g", net, "-f", format, "-o", weights});
  }
  refused({"run", net, "--report", weights});
}

TEST_CASE_FIXTURE(ModelScene, "a stage that there is no room for is named as it would be called") {
  REQUIRE(run({"place", model, "--dim", "batch=1", "-t", topology, "-o", "p.json"}).status == 0);
  before = files();
  limit_files(1000);
  fails({"export", "p.json", "--model", model, "--split", "stages"}, 4,
        "placeto: error: stages/stage_0.onnx: cannot write: File too large");
}

TEST_CASE_FIXTURE(ModelScene, "a copy that names make needless is refused instead of left out") {
  REQUIRE(run({"place", model, "--dim", "batch=1", "-t", topology, "-o", "p.json"}).status == 0);
  before = files();
  const std::vector<std::string> by_names = {"export", "p.json", "--model",
                                             model,    "-f",     "ort-names"};
  CHECK(run(by_names).out.starts_with("session.name_based_layer_assignment="));
  std::vector<std::string> with_copy = by_names;
  with_copy.insert(with_copy.end(), {"-o", "copy.onnx"});
  fails(with_copy, 2, "-o copy.onnx: no annotated copy is needed");
}

TEST_CASE_FIXTURE(ModelScene, "a report of a run takes the place of nothing that was run") {
  REQUIRE(run({"place", model, "--dim", "batch=1", "-t", topology, "-o", "p.json"}).status == 0);
  REQUIRE(run({"export", "p.json", "--model", model, "--split", "stages"}).status == 0);
  const std::string manifest = read("stages/manifest.json");
  before = files();
  for (const char* file : {"stages/manifest.json", "stages/stage_0.onnx"}) {
    fails({"run", "stages", "--report", file}, 2, "is an input and would be overwritten");
  }
  CHECK(read("stages/manifest.json") == manifest);
}

TEST_CASE_FIXTURE(ModelScene, "the manifest of a split model is called that by who cannot use it") {
  REQUIRE(run({"place", model, "--dim", "batch=1", "-t", topology, "-o", "p.json"}).status == 0);
  REQUIRE(run({"export", "p.json", "--model", model, "--split", "stages"}).status == 0);
  before = files();
  const std::string said = " the manifest of a split model, for 'placeto run'";
  fails({"inspect", "stages/manifest.json"}, 3, "stages/manifest.json: is" + said);
  fails({"convert", "stages/manifest.json", "x.plg"}, 3, "stages/manifest.json: is" + said);
  fails({"inspect", "stages"}, 3, "stages: holds" + said);
}

TEST_CASE_FIXTURE(ModelScene, "stages say what the whole model takes on a processor, as run does") {
  const auto whole_of = [&](const std::string& devices) {
    const std::string machine = add("machine.json", R"({"format_version": 1, "execution": "staged",
      "default_link": {"bandwidth_bytes_per_us": 100}, "devices": [)" +
                                                        devices + "]}");
    const json placed = run_json(
        {"place", model, "--dim", "batch=1", "-t", machine, "-o", path("placed.json"), "--json"});
    std::filesystem::remove_all(path("staged"));
    REQUIRE(run({"export", path("placed.json"), "--model", model, "-t", machine, "--split",
                 path("staged")})
                .status == 0);
    json times{
        {"whole", json::parse(read("staged/manifest.json")).value("predicted_whole_us", 0.0)}};
    for (const json& candidate : placed.at("candidates")) {
      times[candidate.at("method").get<std::string>()] = candidate.at("makespan_us");
    }
    return times;
  };
  const std::string gpu = R"({"name": "gpu:0", "kind": "gpu", "peak_flops": 1e13,
                              "memory_bandwidth": 1e11})";
  const json times = whole_of(gpu + R"(, {"name": "cpu:0", "kind": "cpu", "peak_flops": 1e10,
                                         "memory_bandwidth": 1e10})");
  CHECK(times.at("single cpu:0") > times.at("single gpu:0"));
  CHECK(times.at("whole") == times.at("single cpu:0"));
  CHECK(whole_of(gpu).at("whole") == 0);
}

TEST_CASE_FIXTURE(ModelScene, "models, tables and what is exported may come from standard input") {
  const auto shell = [this](const std::string& line) {
    return std::system(("cd " + path(".") + " && placeto=" PLACETO_CLI " && " + line).c_str());
  };
  const std::string place =
      "$placeto place - --dim batch=1 -t " + topology + " -o p.json <" + model;
  CHECK(shell(place + " >said 2>&1") == 0);
  CHECK(shell("$placeto export p.json --model - --split piped <" + model + " >said 2>&1") == 0);
  CHECK(exists("piped/manifest.json"));
  CHECK(shell("printf 'node,kind,us\nx,cpu,1\n' | $placeto import " + model +
              " --dim batch=1 --costs - -o g.json 2>said; [ $? = 3 ]") == 0);
  CHECK_MESSAGE(read("said").find("standard input: ") != std::string::npos, read("said"));
}

TEST_CASE_FIXTURE(ModelScene, "a split knows the numbers that it was placed with") {
  const std::string placed = path("p.json"), stages = path("stages");
  REQUIRE(run({"place", model, "--dim", "batch=3k", "-t", topology, "-o", placed}).status == 0);
  CHECK(json::parse(read("p.json"))["dims"] == json({"batch=3000"}));
  REQUIRE(run({"export", placed, "--model", model, "--split", stages}).status == 0);
  CHECK(json::parse(read("stages/manifest.json"))["dims"] == json({{"batch", 3000}}));
  before = files();
  fails({"run", stages, "--dim", "btch=1"}, 2,
        "--dim 'btch': " + stages + " has no such free dimension, did you mean 'batch'?");
  fails({"run", model, "--dim", "batch=1", "--dim", "foo=3"}, 2, "no such free dimension");
  const Run again = run({"export", placed, "--model", model, "--split", stages, "--json"});
  CHECK(again.status == 2);
  CHECK(json::parse(again.out)["status"] == "bad usage");
}

TEST_CASE_FIXTURE(ModelScene, "a split calls the numbers by the names of dimensions") {
  for (const char* dim : {"*=3", "x[0]=3", "batch=3"}) {
    CAPTURE(dim);
    const std::string stages = std::string("stages ") + dim[0];
    REQUIRE(run({"place", model, "--dim", dim, "-t", topology, "-o", "p.json"}).status == 0);
    const Run split = run({"export", "p.json", "--model", model, "--split", stages});
    REQUIRE_MESSAGE(split.status == 0, split.err);
    CHECK(json::parse(read(stages + "/manifest.json"))["dims"] == json({{"batch", 3}}));
  }
}

TEST_CASE_FIXTURE(ModelScene, "export refuses what it would not look at") {
  REQUIRE(run({"place", model, "--dim", "batch=1", "-t", topology, "-o", "p.json"}).status == 0);
  before = files();
  const std::string costs = "with --topology only", names = "has no names of the engine's";
  fails({"export", "p.json", "--model", model, "--split", "s", "--costs", "none"}, 2, costs);
  fails({"export", "p.json", "--model", model, "-f", "json", "--profile", "cpu=none"}, 2, costs);
  fails({"export", "p.json", "--model", model, "--split", "s", "--engine-device", "gpu=x"}, 2,
        names);
  fails({"export", "p.json", "--model", model, "-f", "dot", "--engine-device", "gpu=x"}, 2, names);
}

// The second device has work as soon as `p` has run, and the first need not wait for it:
//
//   p (0) - q (1) - add (0)
//     |               |
//     +---- r (0) ----+
TEST_CASE_FIXTURE(ModelScene, "without recorded stages, a topology forms those that simulate has") {
  OnnxBuilder b;
  b.input("x", {"256", "256"});
  for (const auto& [name, from] : {std::pair{"p", "x"}, std::pair{"q", "p"}, std::pair{"r", "p"}}) {
    b.weight(std::string("w") + name, {256, 256});
    b.node("MatMul", {from, std::string("w") + name}, {name}, name);
  }
  b.node("Add", {"q", "r"}, {"y"}, "add");
  OnnxBuilder::set_type(*b.graph().add_output(), "y", {"256", "256"});
  const std::string branches = write("branches.onnx", b.bytes());
  const std::string staged = write("staged.json", R"({"format_version": 1, "execution": "staged",
      "devices": [
        {"name": "a", "kind": "cpu", "peak_flops": 1e9, "memory_bandwidth": 1e10},
        {"name": "b", "kind": "cpu", "peak_flops": 1e9, "memory_bandwidth": 1e10}],
      "default_link": {"bandwidth_bytes_per_us": 100000}})");
  const std::string placed = write(
      "p.json", R"({"format_version": 1, "devices": ["a", "b"], "assignment": [0, 1, 0, 0]})");
  const json simulated = run_json({"simulate", branches, "-t", staged, "-p", placed, "--json"});
  CHECK(simulated.at("stages").size() == 4);  // p, q, r, add

  const Run fewest = run({"export", placed, "--model", branches, "--split", path("few"), "--json"});
  CHECK(json::parse(fewest.out).at("stages").size() == 3);
  CHECK_MESSAGE(fewest.err.find("records no stages") != std::string::npos, fewest.err);
  const json same = run_json(
      {"export", placed, "--model", branches, "-t", staged, "--split", path("same"), "--json"});
  CHECK(same.at("stages").size() == 4);
}

//   p (0) - q (1) - add (0)
//     |               |
//     +---- r (0) ----+
//   s (0) - t (1) - u (0)
TEST_CASE_FIXTURE(ModelScene, "a model is divided by every rule that has a name, and by no other") {
  OnnxBuilder b;
  for (const char* input : {"x", "z"}) b.input(input, {"4"});
  for (const auto& [name, from] : {std::pair{"p", "x"}, std::pair{"q", "p"}, std::pair{"r", "p"},
                                   std::pair{"s", "z"}, std::pair{"t", "s"}, std::pair{"u", "t"}}) {
    b.node("Relu", {from}, {name}, name);
  }
  b.node("Add", {"q", "r"}, {"y"}, "add");
  for (const char* output : {"y", "u"}) {
    OnnxBuilder::set_type(*b.graph().add_output(), output, {"4"});
  }
  const std::string branches = write("branches.onnx", b.bytes());
  const std::string placed =
      write("p.json",
            R"({"format_version": 1, "devices": ["a", "b"], "assignment": [0, 1, 0, 0, 1, 0, 0]})");
  const auto divide = [&](const std::string& rule) {
    return std::vector<std::string>{"export", placed,    "--model",  branches, "--stages",
                                    rule,     "--split", path(rule), "--json"};
  };
  const std::pair<const char*, size_t> counts[] = {
      {"recorded", 3}, {"fewest", 3}, {"overlap", 6}, {"crossings", 4}};
  for (const auto& [rule, count] : counts) {
    CHECK(json::parse(run(divide(rule)).out).at("stages").size() == count);
    const json manifest = json::parse(read(std::string(rule) + "/manifest.json"));
    for (size_t s = 0; s < count; ++s) {
      for (const size_t other : manifest.at("stages")[s].at("after")) CHECK(other < s);
    }
  }
  before = files();
  fails(divide("crossing"), 2, "crossings");
}

TEST_CASE_FIXTURE(ModelScene, "what a model is run with is looked for before it is run") {
  fails({"tune", model, "-t", topology, "-o", "-", "--dim", "batch=1"}, 2, "a new directory");
  fails({"tune", "nosuch.onnx", "-t", topology, "-o", path("tuned")}, 3,
        "nosuch.onnx: cannot open: No such file");
  fails({"run", "nosuch.onnx"}, 3, "nosuch.onnx: cannot open: No such file");
}

TEST_CASE_FIXTURE(ModelScene, "a folder where a model is expected is bad input of every command") {
  std::filesystem::create_directory(path("folder"));
  REQUIRE(run({"place", model, "--dim", "batch=1", "-t", topology, "-o", "p.json"}).status == 0);
  REQUIRE(run({"export", "p.json", "--model", model, "--split", "stages"}).status == 0);
  before = files();
  const std::string text = "folder: is a directory, expected a regular file";
  fails({"import", "folder", "-o", "g.json"}, 3, text);
  fails({"place", "folder", "-t", topology}, 3, text);
  fails({"export", "p.json", "--model", "folder", "--split", "d"}, 3, text);
  fails({"tune", "folder", "-t", topology, "-o", "d"}, 3, text);
  const std::vector<std::string> runs = {"run", "stages", "--model", "folder"};
  if (run(runs).err.find("built without ONNX Runtime") == std::string::npos) fails(runs, 3, text);
}

TEST_CASE_FIXTURE(ModelScene, "where a run cannot write is said before it runs") {
  const auto tune = [&](const std::string& out, const std::string& text) {
    fails({"tune", model, "-t", topology, "-o", out, "--dim", "batch=1"}, 4, text);
  };
  tune("/nodir/x", "/nodir/x: cannot write there: /nodir: No such file");
  tune("/nodir/x/", "/nodir: No such file");
  tune(model + "/x", "Not a directory");
  fails({"run", model, "--dim", "batch=1", "--write-profiles", "/nodir/x"}, 4,
        "/nodir/x_stage_0.json: cannot write there: No such file");
}
