// libplaceto-onnx: models, JSON files, engines and stages through its interface in C.
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <thread>

#include "tests/unit/capi_support.h"
#include "tests/unit/last_bytes.h"
#include "tools/capi/include/placeto/placeto_onnx.h"

using namespace capi_test;

namespace {

using Engine =
    std::unique_ptr<placeto_onnx_engine, Deleter<placeto_onnx_engine, placeto_onnx_engine_free>>;
using EngineRules =
    std::unique_ptr<placeto_onnx_rules, Deleter<placeto_onnx_rules, placeto_onnx_rules_free>>;

constexpr const char* kModel = PLACETO_MODELS "/example.onnx";
const char* const kBatch[] = {"batch=1"};

placeto_onnx_options import_options() {
  placeto_onnx_options value;
  REQUIRE(placeto_onnx_default_options(&value, sizeof value) == PLACETO_OK);
  return value;
}

placeto_onnx_options one_image() {
  placeto_onnx_options value = import_options();
  value.dims = kBatch;
  value.dim_count = 1;
  return value;
}

Topology built_in(const char* name) {
  placeto_topology* topology = nullptr;
  placeto_error error;
  REQUIRE_MESSAGE(placeto_onnx_load_topology(name, nullptr, &topology, &error) == PLACETO_OK,
                  error.message);
  return Topology(topology);
}

Graph load(const char* path, const placeto_onnx_options& given = import_options()) {
  placeto_graph* graph = nullptr;
  placeto_error error;
  REQUIRE_MESSAGE(placeto_onnx_load_graph(path, &given, &graph, &error) == PLACETO_OK,
                  error.message);
  return Graph(graph);
}

Engine engine_named(const char* name) {
  placeto_onnx_engine* engine = nullptr;
  placeto_error error;
  REQUIRE_MESSAGE(placeto_onnx_engine_load(name, &engine, &error) == PLACETO_OK, error.message);
  return Engine(engine);
}

Topology staged(const Engine& engine, const Topology& topology) {
  placeto_topology* changed = nullptr;
  REQUIRE(placeto_onnx_engine_topology(engine.get(), topology.get(), &changed, nullptr) ==
          PLACETO_OK);
  return Topology(changed);
}

void collect(void* context, const char* text) {
  static_cast<std::vector<std::string>*>(context)->emplace_back(text);
}

EngineRules rules_for_cuda(const Engine& engine, const Graph& graph, const Topology& topology,
                           std::vector<std::string>& notes) {
  const char* const providers[] = {"gpu=cuda"};
  placeto_onnx_rules* rules = nullptr;
  placeto_error error;
  REQUIRE_MESSAGE(placeto_onnx_engine_rules(engine.get(), graph.get(), topology.get(), providers, 1,
                                            collect, &notes, &rules, &error) == PLACETO_OK,
                  error.message);
  return EngineRules(rules);
}

std::string graph_json(const std::string& nodes) {
  return R"({"format_version": 1, "name": "row", "kinds": ["cpu", "gpu"], "nodes": [)" + nodes +
         "]}";
}

}  // namespace

TEST_CASE("a graph comes through a pipe, which gives its bytes but once") {
  const std::string text =
      R"({"format_version": 1, "nodes": [{"cost_us": [1]}, {"cost_us": [2]}]})";
  std::filesystem::remove("capi_test_pipe");
  REQUIRE(mkfifo("capi_test_pipe", 0600) == 0);
  std::thread writer([&] { std::ofstream("capi_test_pipe") << text; });
  const Graph graph = load("capi_test_pipe");
  writer.join();
  CHECK(placeto_graph_node_count(graph.get()) == 2);
  std::filesystem::remove("capi_test_pipe");
}

TEST_CASE("a JSON graph loads from a file and from memory, and says where it is wrong") {
  const std::string text = graph_json(R"({"name": "a", "op": "Conv", "cost_us": [2, 1]})");
  const TemporaryFile file("row.json", {text.begin(), text.end()});
  const Graph graph = load(file.path());
  CHECK(std::string(placeto_graph_name(graph.get())) == "row");
  placeto_graph* raw = nullptr;
  placeto_error error;
  REQUIRE(placeto_onnx_load_graph_memory(text.data(), text.size(), "memory", nullptr, &raw,
                                         &error) == PLACETO_OK);
  CHECK(placeto_graph_node_count(Graph(raw).get()) == 1);

  const std::string wrong = graph_json(R"({"name": "a", "speed": 3})");
  CHECK(placeto_onnx_load_graph_memory(wrong.data(), wrong.size(), "memory", nullptr, &raw,
                                       &error) == PLACETO_BAD_INPUT);
  CHECK(raw == nullptr);
  CHECK(mentions(error, "memory: "));
  CHECK(mentions(error, "'speed'"));
  CHECK(placeto_onnx_load_graph("/no/such/file", nullptr, &raw, &error) == PLACETO_IO);
  CHECK(placeto_onnx_load_graph(nullptr, nullptr, &raw, &error) == PLACETO_INVALID_ARGUMENT);
}

TEST_CASE("how long a file may be is asked of the bytes that are given, not of another form") {
  std::string nodes;
  for (int i = 0; i < 1000; ++i)
    nodes += std::string(i == 0 ? "" : ", ") + R"({"cost_us": [1, 1]})";
  const std::string text = graph_json(nodes);
  placeto_limits limits;
  REQUIRE(placeto_default_limits(&limits, sizeof limits) == PLACETO_OK);
  placeto_onnx_options import = import_options();
  import.limits = &limits;
  const auto load_text = [&](size_t most) {
    limits.max_file_bytes = most;
    placeto_graph* raw = nullptr;
    placeto_error error;
    const auto status =
        placeto_onnx_load_graph_memory(text.data(), text.size(), "memory", &import, &raw, &error);
    CHECK((raw != nullptr) == (status == PLACETO_OK));
    placeto_graph_free(raw);
    CAPTURE(error.message);
    CHECK((status == PLACETO_OK || mentions(error, "memory: is ")));
    return status;
  };
  CHECK(load_text(text.size()) == PLACETO_OK);
  CHECK(load_text(text.size() - 1) == PLACETO_BAD_INPUT);

  if (placeto_onnx_has_onnx() == 0) return;
  placeto_onnx_options one = one_image();
  one.limits = &limits;
  const auto bytes = std::filesystem::file_size(kModel);
  for (const size_t most : {bytes, bytes - 1}) {
    limits.max_file_bytes = most;
    placeto_graph* raw = nullptr;
    placeto_error error;
    CHECK(placeto_onnx_load_graph(kModel, &one, &raw, &error) ==
          (most == bytes ? PLACETO_OK : PLACETO_BAD_INPUT));
    placeto_graph_free(raw);
    CHECK((most == bytes || mentions(error, PLACETO_MODELS "/example.onnx: is ")));
  }
}

TEST_CASE("a topology loads by name, from JSON, and not from nothing") {
  const Topology topology = built_in("2xk80");
  CHECK(placeto_topology_device_count(topology.get()) == 2);
  const std::string text = R"({"format_version": 1, "devices": [{"name": "x", "kind": "gpu"}]})";
  placeto_topology* raw = nullptr;
  placeto_error error;
  REQUIRE(placeto_onnx_load_topology_memory(text.data(), text.size(), nullptr, &raw, &error) ==
          PLACETO_OK);
  CHECK(std::string(placeto_topology_device_name(Topology(raw).get(), 0)) == "x");
  CHECK(placeto_onnx_load_topology("2xk81", nullptr, &raw, &error) == PLACETO_IO);
  CHECK(mentions(error, "2xk81: no such file, and no built-in topology"));
  CHECK(mentions(error, "2xk80"));
}

TEST_CASE("an engine judges nodes made in C by their domain, version and types") {
  const GraphBuilder builder = graph_builder("made");
  const auto add_relu = [&](const char* domain, uint32_t opset, const char* type) {
    placeto_node node;
    REQUIRE(placeto_default_node(&node, sizeof node) == PLACETO_OK);
    node.op = "Relu";
    node.domain = domain;
    node.opset = opset;
    node.input_types = &type;
    node.input_type_count = 1;
    REQUIRE(placeto_graph_builder_add_node(builder.get(), &node, nullptr, nullptr) == PLACETO_OK);
  };
  add_relu(nullptr, 0, "");
  add_relu("ai.onnx", 13, "float");
  add_relu("com.microsoft", 1, "float");  // which has none of that name
  add_relu("ai.onnx", 5, "float");
  add_relu("ai.onnx", 13, "string");
  const Graph graph = build(builder);
  const Engine engine = engine_named("onnxruntime");
  const Topology topology = built_in("cpu+gpu");
  std::vector<std::string> notes;
  const EngineRules rules = rules_for_cuda(engine, graph, topology, notes);
  CHECK(notes == std::vector<std::string>{
                     "cuda on gpu:0 lacks Relu (1, of string), Relu (1, operator set 5): not "
                     "placed there",
                     "whether cpu on cpu:0 runs Relu (1) is not known: allowed",
                     "whether cuda on gpu:0 runs Relu (1) is not known: allowed"});
  placeto_options chosen = options();
  REQUIRE(placeto_onnx_rules_add(rules.get(), &chosen, nullptr) == PLACETO_OK);
  REQUIRE(chosen.forbid_count == 2);
  CHECK(chosen.forbids[0].node == 3);
  CHECK(chosen.forbids[1].node == 4);
}

TEST_CASE("an engine's demands follow the caller's rules, and its notes say what it lacks") {
  const std::string text = graph_json(
      R"({"name": "a", "op": "Conv", "cost_us": [1000, 100], "outputs": [8]},
         {"name": "b", "op": "NonMaxSuppression", "cost_us": [1000, 100]})");
  const TemporaryFile file("nms.json", {text.begin(), text.end()});
  const Graph graph = load(file.path());
  const Engine engine = engine_named("onnxruntime");
  const Topology topology = staged(engine, built_in("cpu+gpu"));
  placeto_topology_rules staging;
  staging.struct_size = sizeof staging;
  REQUIRE(placeto_topology_get_rules(topology.get(), &staging, nullptr) == PLACETO_OK);
  CHECK(staging.execution == PLACETO_EXECUTION_STAGED);

  std::vector<std::string> notes;
  const EngineRules rules = rules_for_cuda(engine, graph, topology, notes);
  REQUIRE(!notes.empty());
  CHECK(notes[0].find("lacks NonMaxSuppression (1)") != std::string::npos);

  const uint32_t gpu = placeto_topology_find_device(topology.get(), "gpu:0");
  const uint32_t cpu = placeto_topology_find_device(topology.get(), "cpu:0");
  const placeto_node_device mine = {0, cpu};
  placeto_options chosen[2] = {options(), options()};
  for (placeto_options& each : chosen) {
    each.forbids = &mine;
    each.forbid_count = 1;
    REQUIRE(placeto_onnx_rules_add(rules.get(), &each, nullptr) == PLACETO_OK);
    CHECK(each.forbid_count == 2);
    CHECK(each.tolerance > 0);
  }
  for (const placeto_options& each : chosen) {  // the first is not hurt by the second
    CHECK(assignment_of(place(graph, topology, each)) == std::vector<uint32_t>{gpu, cpu});
  }
  placeto_options older;  // of a program that was compiled before the tolerance
  REQUIRE(placeto_default_options(&older, offsetof(placeto_options, tolerance)) == PLACETO_OK);
  older.tolerance = -1;
  REQUIRE(placeto_onnx_rules_add(rules.get(), &older, nullptr) == PLACETO_OK);
  CHECK(older.forbid_count == 1);
  CHECK(older.tolerance == -1);
  placeto_onnx_rules* raw = nullptr;
  placeto_error error;
  const char* const wrong[] = {"gpu=metal"};
  CHECK(placeto_onnx_engine_rules(engine.get(), graph.get(), topology.get(), wrong, 1, nullptr,
                                  nullptr, &raw, &error) == PLACETO_INVALID_ARGUMENT);
  CHECK(raw == nullptr);
  CHECK(mentions(error, "no provider 'metal'"));
  placeto_onnx_engine* none = nullptr;
  CHECK(placeto_onnx_engine_load("no-engine", &none, &error) == PLACETO_IO);
}

TEST_CASE("the default policy places, and a placement is JSON that tools read") {
  placeto_policy* raw = nullptr;
  placeto_error error;
  REQUIRE_MESSAGE(placeto_onnx_default_policy(&raw, &error) == PLACETO_OK, error.message);
  const Policy policy(raw);
  const Placement placement = place(diamond(), devices(2), options(), policy.get());
  CHECK(std::string(placeto_placement_note(placement.get())) == "");
  size_t size = 0;
  REQUIRE(placeto_onnx_placement_json(placement.get(), nullptr, 0, &size, &error) == PLACETO_OK);
  std::string text(size, '\0');
  REQUIRE(placeto_onnx_placement_json(placement.get(), text.data(), size, &size, &error) ==
          PLACETO_OK);
  CHECK(text.find("\"graph\": \"diamond\"") != std::string::npos);
  CHECK(text.find("\"assignment\": [") != std::string::npos);
}

TEST_CASE("a model is imported, placed and divided into stages") {
  if (placeto_onnx_has_onnx() == 0) return;
  const placeto_onnx_options import = one_image();
  const Graph graph = load(kModel, import);
  CHECK(placeto_graph_node_count(graph.get()) == 30);
  const Engine engine = engine_named("onnxruntime");
  const Topology topology = staged(engine, built_in("edge-cpu-gpu-npu"));
  const Placement placement = place(graph, topology);
  const std::string folder = "capi_test_stages";
  std::filesystem::remove_all(folder);
  placeto_error error;
  REQUIRE_MESSAGE(
      placeto_onnx_write_stages(kModel, &import, placement.get(), PLACETO_ONNX_STAGES_RECORDED,
                                folder.c_str(), &error) == PLACETO_OK,
      error.message);
  const uint32_t stages = placeto_placement_stage_count(placement.get());
  CHECK(stages > 0);
  CHECK(std::filesystem::exists(folder + "/manifest.json"));
  CHECK(std::filesystem::exists(folder + "/stage_" + std::to_string(stages - 1) + ".onnx"));
  CHECK(!std::filesystem::exists(folder + "/stage_" + std::to_string(stages) + ".onnx"));
  CHECK(placeto_onnx_write_stages(kModel, &import, placement.get(), 0, folder.c_str(), &error) !=
        PLACETO_OK);  // it is there already
  const int32_t last = PLACETO_ONNX_STAGES_CROSSINGS;
  for (int32_t rule = PLACETO_ONNX_STAGES_FEWEST; rule <= last + 1; ++rule) {
    std::filesystem::remove_all(folder);
    const bool known = rule <= last;
    CHECK(placeto_onnx_write_stages(kModel, &import, placement.get(), rule, folder.c_str(),
                                    &error) == (known ? PLACETO_OK : PLACETO_INVALID_ARGUMENT));
    CHECK(std::filesystem::exists(folder + "/manifest.json") == known);
  }
  std::filesystem::remove_all(folder);
  const Placement other = place(diamond(), devices(2));
  CHECK(placeto_onnx_write_stages(kModel, &import, other.get(), 0, folder.c_str(), &error) ==
        PLACETO_BAD_INPUT);
  CHECK(!std::filesystem::exists(folder));
}

TEST_CASE(
    "a model whose shapes cannot be inferred for want of a process is no graph without them") {
  if (placeto_onnx_has_onnx() == 0) return;
  const placeto_onnx_options import = one_image();
  load(kModel, import);  // what is opened once is open
  const int last = dup(0);
  REQUIRE(last > 0);
  close(last);
  rlimit before;
  REQUIRE(getrlimit(RLIMIT_NOFILE, &before) == 0);
  rlimit one = before;
  one.rlim_cur = static_cast<rlim_t>(last) + 1;  // the model's file, and no socket
  REQUIRE(setrlimit(RLIMIT_NOFILE, &one) == 0);
  placeto_graph* graph = nullptr;
  placeto_error error;
  const placeto_status status = placeto_onnx_load_graph(kModel, &import, &graph, &error);
  REQUIRE(setrlimit(RLIMIT_NOFILE, &before) == 0);
  CHECK(status == PLACETO_INTERNAL);
  CHECK(graph == nullptr);
  CHECK(mentions(error, "no socket to a child process"));
}

TEST_CASE("what does not fit a model is an error that names it") {
  if (placeto_onnx_has_onnx() == 0) return;
  placeto_graph* graph = nullptr;
  placeto_error error;
  CHECK(placeto_onnx_load_graph(kModel, nullptr, &graph, &error) == PLACETO_INVALID_ARGUMENT);
  CHECK(mentions(error, "batch"));
  placeto_onnx_options given = one_image();
  const char* const wrong[] = {"batch=many"};
  given.dims = wrong;
  CHECK(placeto_onnx_load_graph(kModel, &given, &graph, &error) == PLACETO_INVALID_ARGUMENT);
  CHECK(mentions(error, "batch=many"));
  given = one_image();
  const char* const profile[] = {"cpu=/no/such/profile.json"};
  given.profiles = profile;
  given.profile_count = 1;
  CHECK(placeto_onnx_load_graph(kModel, &given, &graph, &error) == PLACETO_IO);
  CHECK(mentions(error, "/no/such/profile.json"));
  given = one_image();
  given.struct_size = 8;
  CHECK(placeto_onnx_load_graph(kModel, &given, &graph, &error) == PLACETO_INVALID_ARGUMENT);
  CHECK(graph == nullptr);
}

TEST_CASE("no struct of the caller's is read beyond its end") {
  const Topology topology = built_in("cpu+gpu");
  refuses_stubs<placeto_limits>([](placeto_limits* given, placeto_error* error) {
    placeto_topology* loaded = nullptr;
    return placeto_onnx_load_topology("cpu+gpu", given, &loaded, error);
  });
  if (placeto_onnx_has_onnx() == 0) return;
  refuses_stubs<placeto_onnx_options>([](placeto_onnx_options* given, placeto_error* error) {
    placeto_graph* loaded = nullptr;
    return placeto_onnx_load_graph(kModel, given, &loaded, error);
  });
  const Engine engine = engine_named("onnxruntime");
  const Topology machine = staged(engine, topology);
  const Graph graph = load(kModel, one_image());
  placeto_onnx_rules* made = nullptr;
  REQUIRE(placeto_onnx_engine_rules(engine.get(), graph.get(), machine.get(), nullptr, 0, nullptr,
                                    nullptr, &made, nullptr) == PLACETO_OK);
  const EngineRules rules(made);
  refuses_stubs<placeto_options>(
      [&](placeto_options* given, placeto_error* error) {
        return placeto_onnx_rules_add(rules.get(), given, error);
      },
      offsetof(placeto_options, tolerance));
  const LastBytes room;  // all of it, to the last byte
  placeto_graph* loaded = nullptr;
  CHECK(placeto_onnx_load_graph(kModel, room.copy(one_image()), &loaded, nullptr) == PLACETO_OK);
  CHECK(placeto_graph_node_count(Graph(loaded).get()) == placeto_graph_node_count(graph.get()));
}

TEST_CASE("measured run times become the costs of a model's nodes") {
  if (placeto_onnx_has_onnx() == 0) return;
  placeto_onnx_options given = one_image();
  const Graph plain = load(kModel, given);
  std::string table = "node,kind,us\n";
  for (uint32_t v = 0; v < placeto_graph_node_count(plain.get()); ++v) {
    table += std::string(placeto_graph_node_name(plain.get(), v)) + ",cpu,12.5\n";
  }
  const TemporaryFile file("times.csv", {table.begin(), table.end()});
  const char* const tables[] = {file.path()};
  given.tables = tables;
  given.table_count = 1;
  const Graph timed = load(kModel, given);
  CHECK(std::string(placeto_graph_kind(timed.get(), 0)) == "cpu");
  placeto_node node;
  node.struct_size = sizeof node;
  REQUIRE(placeto_graph_node(timed.get(), 3, &node, nullptr) == PLACETO_OK);
  REQUIRE(node.cost_count == 1);
  CHECK(node.cost_us[0] == 12.5);
}
