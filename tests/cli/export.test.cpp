// placeto export: formats that need no model, usage, and what is left behind.
#include "tests/cli/runner.h"

namespace placeto::test {
namespace {

// Names as exporters of transformers write them; two layers, one per device.
std::string transformer_graph() {
  return R"({"format_version": 1, "name": "tiny", "nodes": [
    {"name": "/model/embed_tokens/Gather", "op": "Gather", "cost_us": [10], "outputs": [4096],
     "resident_bytes": 100},
    {"name": "/model/layers.0/mlp/MatMul", "op": "MatMul", "cost_us": [10], "outputs": [4096],
     "resident_bytes": 100},
    {"name": "/model/layers.1/mlp/MatMul", "op": "MatMul", "cost_us": [10],
     "resident_bytes": 100}],
   "edges": [{"target": 1}, {"source": 1, "target": 2}]})";
}

std::string transformer_placement(const std::string& second = "gpu:1") {
  return R"({"format_version": 1, "graph": "tiny", "topology": "pair", "devices": ["gpu:0", ")" +
         second + R"("], "assignment": [0, 0, 1], "makespan_us": 30, "method": "hand"})";
}

struct Scene {
  Workplace place;
  std::string graph = place.write("g.json", transformer_graph());
  std::string placement = place.write("p.json", transformer_placement());

  Run run(std::vector<std::string> arguments) const {
    arguments.insert(arguments.begin(), {"export", placement});
    return place.run(std::move(arguments));
  }
};

TEST_CASE("export writes a placement by names, to standard output or to a file") {
  const Scene scene;
  const Run run = scene.run({"--graph", scene.graph, "--format", "json"});
  CHECK_MESSAGE(run.status == 0, run.err);
  const auto json = nlohmann::json::parse(run.out);
  CHECK(json["nodes"]["/model/layers.1/mlp/MatMul"] == "gpu:1");
  CHECK(scene.run({"--graph", scene.graph, "--format", "json", "-o", "out.json"}).status == 0);
  CHECK(scene.place.read("out.json") == run.out);
}

TEST_CASE("export speaks DOT, Accelerate and llama.cpp") {
  const Scene scene;
  const Run dot = scene.run({"--graph", scene.graph, "--format", "dot"});
  CHECK(dot.out.find("digraph") == 0);
  CHECK(dot.out.find("4.00 KiB") != std::string::npos);
  const Run map = scene.run({"--graph", scene.graph, "--format", "hf-device-map"});
  CHECK(nlohmann::json::parse(map.out)["model.layers.1"] == 1);
  const Run override = scene.run({"--graph", scene.graph, "--format", "llama-override-tensor"});
  CHECK(override.out == "^blk\\.(0)\\.=CUDA0,^token_embd\\.=CUDA0,^blk\\.(1)\\.=CUDA1\n");
}

TEST_CASE("export says which node's name does not fit") {
  const Scene scene;
  const std::string plain = scene.place.write("small.json", small_graph());
  scene.place.write("p.json", R"({"format_version": 1, "devices": ["cpu:0"],
    "assignment": [0, 0, 0, 0, 0, 0]})");
  const Run run = scene.run({"--graph", plain, "--format", "hf-device-map"});
  CHECK(run.status == 2);
  CHECK(run.err.find("node 'b' does not fit") != std::string::npos);
}

TEST_CASE("export refuses what makes no sense, and leaves nothing behind") {
  const Scene scene;
  const auto before = scene.place.files();
  CHECK(scene.run({"--graph", scene.graph}).status == 2);
  CHECK(scene.run({"--format", "json"}).status == 2);
  CHECK(scene.run({"--graph", scene.graph, "--format", "dot", "--split", "d"}).status == 2);
  CHECK(scene.run({"--graph", scene.graph, "--split", "d"}).status == 2);
  CHECK(scene.run({"--graph", scene.graph, "--format", "ort-annotations"}).status == 2);
  CHECK(scene.run({"--graph", scene.graph, "--format", "ort-names"}).status == 2);
  CHECK(scene.run({"--graph", scene.graph, "--format", "json", "--engine-device", "gpu"}).status ==
        2);
  CHECK(scene.run({"--model", scene.graph, "--split", "d"}).status != 0);
  CHECK(scene.run({"--graph", scene.graph, "--format", "dot", "--json"}).status == 2);
  CHECK(scene.place.files() == before);
}

TEST_CASE("export refuses an engine's name for a device or kind that the placement lacks") {
  const Scene scene;
  const auto named = [&scene](const char* alias) {
    return scene.run(
        {"--graph", scene.graph, "--format", "llama-override-tensor", "--engine-device", alias});
  };
  for (const char* fits : {"gpu=Vulkan0", "gpu:1=Vulkan0"}) CHECK(named(fits).status == 0);
  for (const char* lacked : {"nosuch=1", "gpu:2=Vulkan0", "GPU=Vulkan0"}) {
    const Run run = named(lacked);
    CHECK(run.status == 2);
    CHECK_MESSAGE(
        run.err.find("--engine-device '" + std::string(lacked) +
                     "': expected DEVICE=VALUE with a kind or a device of ") != std::string::npos,
        run.err);
  }
}

TEST_CASE("export says that a placement divides what the graph keeps together, once") {
  const Scene scene;
  std::string together = transformer_graph();
  for (const char* op : {"\"MatMul\"", "\"Gather\""}) {
    for (size_t at = together.find(op); at != together.npos; at = together.find(op, at + 1)) {
      together.insert(at + 8, ", \"colocate\": \"tied\"");
    }
  }
  const std::string graph = scene.place.write("tied.json", together);
  for (const char* format : {"json", "dot", "hf-device-map", "llama-override-tensor"}) {
    const Run run = scene.run({"--graph", graph, "--format", format});
    CHECK(run.status == 0);
    CHECK_MESSAGE(run.err == "placeto: note: " + scene.placement +
                                 " divides what 'tiny' keeps together: node 0 "
                                 "'/model/embed_tokens/Gather' on 'gpu:0', node 2 "
                                 "'/model/layers.1/mlp/MatMul' on 'gpu:1'\n",
                  run.err);
    CHECK(scene.run({"--graph", scene.graph, "--format", format}).err.empty());
  }
}

TEST_CASE("export refuses a placement of another graph") {
  const Scene scene;
  const std::string other = scene.place.write("small.json", small_graph());
  const Run run = scene.run({"--graph", other, "--format", "json"});
  CHECK(run.status == 3);
  CHECK(run.err.find("p.json: is of graph 'tiny', and this is graph 'small'") != std::string::npos);
}

}  // namespace
}  // namespace placeto::test
