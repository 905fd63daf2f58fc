// placeto import and calibrate, and models given to the other commands.
#include <doctest/doctest.h>
#include <sys/inotify.h>

#include "tests/cli/runner.h"
#include "tests/support/onnx_models.h"

using namespace placeto::test;
using nlohmann::json;

namespace {

struct ModelFiles : Workplace {
  std::string model = write("model.onnx", convolutional_model().bytes());
  std::string topology = write("topology.json", R"({"format_version": 1, "devices": [
      {"name": "cpu:0", "kind": "cpu", "peak_flops": 1e11, "memory_bandwidth": 2e10},
      {"name": "gpu:0", "kind": "gpu", "peak_flops": 1e13, "memory_bandwidth": 4e11}],
      "default_link": {"bandwidth_bytes_per_us": 10000}})");
};
using ImportScene = Refusing<ModelFiles>;

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

// Whether anybody opened the file since this was made.
class Watch {
 public:
  explicit Watch(const std::string& path) {
    REQUIRE(events_ >= 0);
    REQUIRE(inotify_add_watch(events_, path.c_str(), IN_OPEN) >= 0);
  }
  Watch(const Watch&) = delete;
  ~Watch() { close(events_); }

  bool opened() const {
    alignas(inotify_event) char event[sizeof(inotify_event) + NAME_MAX + 1];
    return ::read(events_, event, sizeof event) > 0;
  }

 private:
  const int events_ = inotify_init1(IN_NONBLOCK);
};

}  // namespace

TEST_CASE_FIXTURE(ImportScene, "files of external weights are never opened, wherever they are") {
  const std::string weights = write("weights.bin", std::string(24, 'w'));
  for (const std::string& location : {std::string("weights.bin"), weights}) {
    OnnxBuilder b;
    b.input("x", {"1", "2"});
    b.external("w", {2, 3});
    b.node("MatMul", {"x", "w"}, {"y"}, "product");
    b.output("y");
    b.graph().mutable_initializer(0)->mutable_external_data(0)->set_value(location);
    write("external.onnx", b.bytes());
    const Watch watch(weights);
    const json said = run_json({"import", "external.onnx", "-o", "graph.json", "--json"});
    CHECK(said.at("parameters") == 6);
    const json placed = run_json({"place", "external.onnx", "-t", topology, "--json"});
    CHECK(placed.at("assignment").size() == 1);
    CHECK(!watch.opened());
    CHECK(read("weights.bin").size() == 24);
    CHECK(watch.opened());  // by this test: the watch sees
  }
}

TEST_CASE_FIXTURE(ImportScene, "external weights are inputs: no output takes their place") {
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

TEST_CASE_FIXTURE(ImportScene, "a report of a run takes the place of nothing that was run") {
  REQUIRE(run({"place", model, "--dim", "batch=1", "-t", topology, "-o", "p.json"}).status == 0);
  REQUIRE(run({"export", "p.json", "--model", model, "--split", "stages"}).status == 0);
  const std::string manifest = read("stages/manifest.json");
  before = files();
  for (const char* file : {"stages/manifest.json", "stages/stage_0.onnx"}) {
    fails({"run", "stages", "--report", file}, 2, "is an input and would be overwritten");
  }
  CHECK(read("stages/manifest.json") == manifest);
}

TEST_CASE_FIXTURE(ImportScene,
                  "the manifest of a split model is called that by who cannot use it") {
  REQUIRE(run({"place", model, "--dim", "batch=1", "-t", topology, "-o", "p.json"}).status == 0);
  REQUIRE(run({"export", "p.json", "--model", model, "--split", "stages"}).status == 0);
  before = files();
  const std::string said = " the manifest of a split model, for 'placeto run'";
  fails({"inspect", "stages/manifest.json"}, 3, "stages/manifest.json: is" + said);
  fails({"convert", "stages/manifest.json", "x.plg"}, 3, "stages/manifest.json: is" + said);
  fails({"inspect", "stages"}, 3, "stages: holds" + said);
}

TEST_CASE_FIXTURE(ImportScene, "import writes a graph that the other commands take") {
  const json said = run_json({"import", model, "--dim", "batch=1", "-o", "graph.json", "--json"});
  CHECK(said.at("nodes") == 5);
  CHECK(said.at("opset") == 17);
  CHECK(said.at("parameters") == 16 * 27 + 16 + 160);
  CHECK(said.at("unknown").empty());
  const json graph = json::parse(read("graph.json"));
  CHECK(graph.at("nodes").at(0).at("name") == "conv");
  const json placed = run_json({"place", path("graph.json"), "-t", topology, "--json"});
  CHECK(placed.at("assignment").size() == 5);
  const json direct = run_json({"place", model, "--dim", "batch=1", "-t", topology, "--json"});
  CHECK(direct.at("assignment") == placed.at("assignment"));
  CHECK(direct.at("makespan_us") == placed.at("makespan_us"));
}

TEST_CASE_FIXTURE(ImportScene, "a model is told by its content, whatever its name") {
  write("model.json", convolutional_model().bytes());
  CHECK(run({"place", path("model.json"), "--dim", "*=1", "-t", topology}).status == 0);
}

TEST_CASE_FIXTURE(ImportScene, "the extents that a placement records need not be given again") {
  const std::string placed = path("placed.json"), staged = path("staged");
  const json two = run_json({"place", model, "--dim", "batch=2", "-t", topology, "-o", placed,
                             "--engine", "onnxruntime", "--json"});
  CHECK(run_json({"simulate", model, "-t", topology, "-p", placed, "--json"}).at("makespan_us") ==
        two.at("makespan_us"));
  CHECK(run({"report", placed, "-g", model, "-t", topology, "-o", path("r.html")}).status == 0);
  CHECK(run({"export", placed, "--model", model, "-f", "dot"}).status == 0);
  CHECK(run({"export", placed, "--model", model, "-t", topology, "--split", staged}).status == 0);
  CHECK(read("staged/manifest.json").find("predicted_us") != std::string::npos);
  const json one =
      run_json({"simulate", model, "-t", topology, "-p", placed, "--dim", "batch=1", "--json"});
  CHECK(one.at("makespan_us") < two.at("makespan_us"));
}

TEST_CASE_FIXTURE(ImportScene,
                  "stages say what the whole model takes on a processor, as run does") {
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

TEST_CASE_FIXTURE(ImportScene, "what is wrong with a model or its options is said with a status") {
  fails({"import", model, "-o", "g.json"}, 2, "add, for instance, --dim 'batch=1'");
  fails({"place", model, "-t", topology}, 2, "add, for instance, --dim 'batch=1'");
  OnnxBuilder b;
  b.input("x", {"N", "2"});
  b.node("Relu", {"x"}, {"y"}, "relu");
  b.output("y");
  const std::string free = add("free.onnx", b.bytes());
  fails({"import", free, "-o", "g.json"}, 2, "'N' ('x[0]'); add, for instance, --dim 'N=1'");
  fails({"import", model, "--dim", "batch=1", "--dim", "size=2", "-o", "g.json"}, 2, "'size'");
  for (const char* other : {"batch=2", "x[0]=2"}) {
    fails({"import", model, "--dim", "batch=1", "--dim", other, "-o", "g.json"}, 2,
          "--dim 'batch': another one sets the same");
  }
  fails({"import", model, "--dim", "batch", "-o", "g.json"}, 2, "NAME=N");
  fails({"import", model, "--dim", "batch=1"}, 2, "-o");
  fails({"import", "missing.onnx", "-o", "g.json"}, 3, "missing.onnx");
  fails({"import", topology, "-o", "g.json"}, 3, "topology.json");
  const std::string cut = add("cut.onnx", convolutional_model().bytes().substr(0, 2000));
  fails({"import", cut, "--dim", "batch=1", "-o", "g.json"}, 3, "cut.onnx: byte ");
  const std::string graph = add("graph.json", small_graph());
  fails({"place", graph, "-t", topology, "--dim", "batch=1"}, 2, "no ONNX model");
}

TEST_CASE_FIXTURE(ImportScene, "profiles of other engines are told by what they hold") {
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

TEST_CASE_FIXTURE(ImportScene, "profiles and tables become costs by kind") {
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

TEST_CASE_FIXTURE(ImportScene, "run times are said to be unlike where only some were measured") {
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
  CHECK(said("place", {"-o", "p.json"}) == "placeto: " + unlike);
  CHECK(said("place", {"--json"}) == "placeto: " + unlike);
  CHECK(said("compare", {"--methods", "single"}) == "placeto: " + unlike);
  CHECK(said("simulate", {"-p", "p.json"}) == "placeto: " + unlike);
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
  CHECK(object("simulate", {"-p", "p.json", "--costs", table}).at("note") == "");
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

TEST_CASE_FIXTURE(ImportScene, "verify takes what a model was placed with, by either option") {
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
                          "--provider", "gpu=any", "--json"});
    const json report = json::parse(said.out);
    CHECK_MESSAGE(report.at("as_planned").get<int>() + report.at("differences").size() == 1,
                  said.err);
  }
}

TEST_CASE_FIXTURE(ImportScene, "a profile of a kind that no device is of is refused") {
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

TEST_CASE_FIXTURE(ImportScene, "inspect shows what a model holds, free dimensions counted once") {
  const json said = run_json({"inspect", model, "--json"});
  CHECK(said.at("kind") == "model");
  CHECK(said.at("nodes") == 5);
  CHECK(said.at("ops").at("Conv") == 1);
  CHECK(said.at("opsets").at("ai.onnx") == 17);
  CHECK(said.at("inputs") ==
        json::array({{{"name", "x"}, {"type", "float"}, {"shape", "batch x 3 x 32 x 32"}}}));
  CHECK(said.at("free_dimensions") == json({"batch"}));
  CHECK(said.at("parameters") == 16 * 27 + 16 + 160);
  CHECK(said.at("kept_whole") == 1);  // the convolution and its activation
  const json eight = run_json({"inspect", model, "--dim", "batch=8", "--json"});
  CHECK(eight.at("flops") == 8 * said.at("flops").get<uint64_t>());
  CHECK(run({"inspect", model}).out.find("batch x 3 x 32 x 32") != std::string::npos);
  fails({"inspect", topology, "--dim", "batch=1"}, 2, "no ONNX model");
  fails({"convert", model, "graph.json"}, 3, "placeto import");
}

TEST_CASE_FIXTURE(ImportScene, "inspect lists no input that is set, nor its free axes") {
  OnnxBuilder b;
  b.input("x", {"2", "3"});
  b.input("scale", {"n"});
  b.node("Mul", {"x", "scale"}, {"y"}, "mul");
  const std::string scaled = add("scaled.onnx", b.bytes());
  const auto names = [](const json& said) {
    std::vector<std::string> all;
    for (const json& input : said.at("inputs")) all.push_back(input.at("name"));
    return all;
  };
  const json open = run_json({"inspect", scaled, "--dim", "n=3", "--json"});
  CHECK(names(open) == std::vector<std::string>{"x", "scale"});
  CHECK(open.at("free_dimensions") == json({"n"}));
  const json set = run_json({"inspect", scaled, "--set", "scale=1,2,3", "--json"});
  CHECK(names(set) == std::vector<std::string>{"x"});
  CHECK(set.at("free_dimensions") == json::array());
  CHECK(run({"inspect", scaled, "--set", "scale=1,2,3"}).out.find("scale") == std::string::npos);
}

TEST_CASE_FIXTURE(ImportScene,
                  "other formats are told by content and refused with a way to convert") {
  using namespace std::string_literals;
  const auto zip = [](const std::string& name) {
    std::string head = "PK\x03\x04" + std::string(22, '\0');
    head += static_cast<char>(name.size());
    return head + std::string(3, '\0') + name + "...";
  };
  for (const auto& [content, format, way] :
       {std::tuple{"\x28\0\0\0TFL3\x14\0\0\0"s, "TensorFlow Lite", "tf2onnx"},
        std::tuple{"\x20\0\0\0ORTM\0\0\0\0"s, ".ort", ".onnx file"},
        std::tuple{"<?xml version=\"1.0\"?>\n<net name=\"m\" version=\"11\">"s, "OpenVINO",
                   "ONNX model"},
        std::tuple{zip("archive/data.pkl"), "PyTorch", "torch.onnx.export"},
        std::tuple{zip("model/archive_format"), "PyTorch", "torch.export.load"},
        std::tuple{"\x0a\0\0\0\0\0\0\0{\"a\": {}}"s, "safetensors", "optimum-cli"},
        std::tuple{"GGUF\x03\0\0\0"s, "GGUF", "optimum-cli"}}) {
    const std::string file = add("other.bin", content);
    for (const std::string& text : {std::string(format), std::string(way)}) {
      fails({"import", file, "-o", "g.json"}, 3, text);
      fails({"place", file, "-t", topology}, 3, text);
      fails({"inspect", file}, 3, text);
      fails({"run", file}, 3, text);
      fails({"tune", file, "-t", topology, "-o", path("tuned")}, 3, text);
    }
    fails({"compare", file, "-t", topology}, 3, format);
    fails({"convert", file, "g.json"}, 3, format);
  }
}

TEST_CASE_FIXTURE(ImportScene, "calibrate fits a kind, and import estimates with what it wrote") {
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
  before = files();
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

TEST_CASE_FIXTURE(ImportScene, "models, tables and what is exported may come from standard input") {
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

TEST_CASE_FIXTURE(ImportScene, "a split knows the numbers that it was placed with") {
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

// The second device has work as soon as `p` has run, and the first need not wait for it:
//
//   p (0) - q (1) - add (0)
//     |               |
//     +---- r (0) ----+
TEST_CASE_FIXTURE(ImportScene,
                  "without recorded stages, a topology forms those that simulate has") {
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
TEST_CASE_FIXTURE(ImportScene,
                  "a model is divided by every rule that has a name, and by no other") {
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

TEST_CASE_FIXTURE(ImportScene, "what a model is run with is looked for before it is run") {
  fails({"tune", model, "-t", topology, "-o", "-", "--dim", "batch=1"}, 2, "a new directory");
  fails({"tune", "nosuch.onnx", "-t", topology, "-o", path("tuned")}, 3,
        "nosuch.onnx: cannot open: No such file");
  fails({"run", "nosuch.onnx"}, 3, "nosuch.onnx: cannot open: No such file");
}

TEST_CASE_FIXTURE(ImportScene, "where a run cannot write is said before it runs") {
  const auto tune = [&](const std::string& out, const std::string& text) {
    fails({"tune", model, "-t", topology, "-o", out, "--dim", "batch=1"}, 4, text);
  };
  tune("/nodir/x", "/nodir/x: cannot write there: /nodir: No such file");
  tune("/nodir/x/", "/nodir: No such file");
  tune(model + "/x", "Not a directory");
  fails({"run", model, "--dim", "batch=1", "--write-profiles", "/nodir/x"}, 4,
        "/nodir/x_stage_0.json: cannot write there: No such file");
}

TEST_CASE_FIXTURE(ImportScene, "where a placement was made with --set, messages ask for it again") {
  OnnxBuilder b;
  b.input("x", {"4"});
  b.input("twice", {"1"}, onnx::TensorProto::BOOL);
  auto& choice = b.node("If", {"twice"}, {"y"}, "choice");
  for (const bool twice : {true, false}) {
    onnx::GraphProto& branch = OnnxBuilder::body(choice, twice ? "then_branch" : "else_branch");
    const std::string made = twice ? "a" : "b";
    OnnxBuilder::add_node(branch, "Relu", {"x"}, {made + "1"}, made + "1");
    OnnxBuilder::add_node(branch, "Neg", {made + "1"}, {made}, made);
    OnnxBuilder::set_type(*branch.add_output(), made, {"4"});
  }
  OnnxBuilder::set_type(*b.graph().add_output(), "y", {"4"});
  const std::string merged = write("merged.onnx", b.bytes());
  REQUIRE(run({"place", merged, "-t", topology, "--set", "twice=true", "-o", "p.json"}).status ==
          0);
  const Run kept = run({"simulate", merged, "-t", topology, "-p", "p.json", "--set", "twice=true"});
  CHECK_MESSAGE(kept.status == 0, kept.err);
  const std::vector<std::string> lines[] = {
      {"simulate", merged, "-t", topology, "-p", "p.json"},
      {"report", "p.json", "-g", merged, "-t", topology, "-o", "page.html"}};
  for (const auto& line : lines) {
    const Run lost = run(line);
    CHECK(lost.status == 3);
    CHECK_MESSAGE(lost.err.find("does not keep what --set said of the model") != lost.err.npos,
                  lost.err);
  }
}
