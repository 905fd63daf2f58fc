// placeto import, and models given to the other commands.
#include <doctest/doctest.h>
#include <sys/inotify.h>

#include "tests/cli/model_files.h"

using namespace placeto::test;
using nlohmann::json;

namespace {

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

TEST_CASE_FIXTURE(ModelScene, "files of external weights are never opened, wherever they are") {
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

TEST_CASE_FIXTURE(ModelScene, "compare gives options of models to those of its inputs that are") {
  run_json({"import", model, "--dim", "batch=1", "-o", "graph.json", "--json"});
  std::vector<std::string> line = {"compare", model,     "graph.json", "-t",   topology,
                                   "--dim",   "batch=1", "--methods",  "heft", "--json"};
  const json compared = run_json(line);
  REQUIRE(compared.at("cases").size() == 2);
  CHECK(compared.at("cases")[0].at("methods") != json::array());
  CHECK(compared.at("cases")[0].at("lower_bound_us") ==
        compared.at("cases")[1].at("lower_bound_us"));
  line.erase(line.begin() + 1);  // then there is none
  CHECK(run(line).status == 2);
}

TEST_CASE_FIXTURE(ModelScene, "what does not fit is said with the numbers that were given") {
  OnnxBuilder b;
  b.input("x", {"1", "1", "length"});
  b.weight("w", {1, 1, 5});
  b.node("Conv", {"x", "w"}, {"y"}, "conv");
  b.output("y");
  const std::string net = write("window.onnx", b.bytes());
  before = files();
  fails({"place", net, "--dim", "length=1", "-t", topology}, 3, "read with --dim 'length=1'");
}

TEST_CASE_FIXTURE(ModelScene, "import writes a graph that the other commands take") {
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

TEST_CASE_FIXTURE(ModelScene, "a model is told by its content, whatever its name") {
  write("model.json", convolutional_model().bytes());
  CHECK(run({"place", path("model.json"), "--dim", "*=1", "-t", topology}).status == 0);
}

TEST_CASE_FIXTURE(ModelScene, "the extents that a placement records need not be given again") {
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

TEST_CASE_FIXTURE(ModelScene, "what is wrong with a model or its options is said with a status") {
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

TEST_CASE_FIXTURE(ModelScene, "inspect shows what a model holds, free dimensions counted once") {
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

TEST_CASE_FIXTURE(ModelScene, "inspect lists no input that is set, nor its free axes") {
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
  const Run twice = run({"inspect", scaled, "--set", "scale=1,2,3", "--set", "scale=1,2,3"});
  CHECK(twice.status == 2);
  CHECK(twice.err.find("'scale': another one sets the same") != std::string::npos);
  const json set = run_json({"inspect", scaled, "--set", "scale=1,2,3", "--json"});
  CHECK(names(set) == std::vector<std::string>{"x"});
  CHECK(set.at("free_dimensions") == json::array());
  CHECK(run({"inspect", scaled, "--set", "scale=1,2,3"}).out.find("scale") == std::string::npos);
}

TEST_CASE_FIXTURE(ModelScene,
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

TEST_CASE_FIXTURE(ModelScene, "where a placement was made with --set, messages ask for it again") {
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

TEST_CASE_FIXTURE(ModelScene, "a placement of another graph is said to be of that") {
  REQUIRE(run({"import", model, "--dim", "batch=1", "-o", "graph.json"}).status == 0);
  write("p.json", R"({"format_version": 1, "graph": "other", "devices": ["cpu:0"],
                      "assignment": [0], "dims": ["batch=1"]})");
  before = files();
  const std::string named = json::parse(read("graph.json")).at("name");
  REQUIRE(!named.empty());
  const std::string text = "p.json: is of graph 'other', and this is graph '" + named + "'";
  for (const std::string& graph : {model, std::string("graph.json")}) {
    fails({"simulate", graph, "-t", topology, "-p", "p.json"}, 3, text);
    fails({"report", "p.json", "-g", graph, "-t", topology, "-o", "page.html"}, 3, text);
    fails({"export", "p.json", "-g", graph, "-f", "json"}, 3, text);
  }
  fails({"export", "p.json", "--model", model, "--split", "d"}, 3, text);
  // Of one that says nothing of its graph, the entries are counted.
  add("p.json", R"({"format_version": 1, "devices": ["cpu:0"], "assignment": [0]})");
  fails({"export", "p.json", "--model", model, "--split", "d"}, 3,
        "p.json: assignment: 1 entries, expected ");
}
