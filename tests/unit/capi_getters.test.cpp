// The C interface: what a graph and a topology say about themselves is what they were made of.
#include "tests/unit/capi_support.h"

using namespace capi_test;

namespace {

template <class Encode, class Handle>
std::vector<uint8_t> encoded(Encode encode, const Handle& handle) {
  size_t size = 0;
  REQUIRE(encode(handle.get(), nullptr, 0, &size, nullptr) == PLACETO_OK);
  std::vector<uint8_t> bytes(size);
  REQUIRE(encode(handle.get(), bytes.data(), size, &size, nullptr) == PLACETO_OK);
  return bytes;
}

// a (no gpu, colocated) -> b (no cost on a cpu, two outputs) -> c, and a control edge a -> c.
Graph unlike_nodes() {
  const GraphBuilder builder = graph_builder("unlike");
  const char* const kinds[] = {"gpu", "cpu"};
  REQUIRE(placeto_graph_builder_set_kinds(builder.get(), kinds, 2, nullptr) == PLACETO_OK);
  const double on_cpu[] = {-1, 5}, on_gpu[] = {7, -1}, anywhere[] = {1, 2};
  const uint64_t outputs[] = {100, 200};
  placeto_node node;
  const auto add = [&](const char* name, const double* costs, size_t output_count) {
    node.name = name;
    node.cost_us = costs;
    node.cost_count = 2;
    node.outputs = outputs;
    node.output_count = output_count;
    REQUIRE(placeto_graph_builder_add_node(builder.get(), &node, nullptr, nullptr) == PLACETO_OK);
  };
  REQUIRE(placeto_default_node(&node, sizeof node) == PLACETO_OK);
  node.op = "Conv";
  node.colocate = "key";
  node.allowed_kinds = &kinds[1];
  node.allowed_kind_count = 1;
  node.domain = "com.microsoft";
  node.opset = 17;
  const char* const types[] = {"float", "", "int64"};
  node.input_types = types;
  node.input_type_count = 3;
  add("a", on_cpu, 1);
  REQUIRE(placeto_default_node(&node, sizeof node) == PLACETO_OK);
  node.resident_bytes = 11;
  node.workspace_bytes = 12;
  node.flops = 13;
  node.bytes_accessed = 14;
  node.launches = 15;
  node.fused = 1;
  add("b", on_gpu, 2);
  node.allowed_kinds = kinds;
  node.allowed_kind_count = 2;
  add("c", anywhere, 0);
  const auto connect = [&](uint32_t source, uint32_t output, uint32_t target) {
    REQUIRE(placeto_graph_builder_add_edge(builder.get(), source, output, target, nullptr) ==
            PLACETO_OK);
  };
  connect(1, 1, 2);
  connect(0, 0, 1);
  connect(0, PLACETO_CONTROL_EDGE, 2);
  return build(builder);
}

Topology unlike_devices() {
  placeto_topology_rules rules = topology_rules(10);
  rules.op_gap_us = 3;
  rules.transfer = PLACETO_TRANSFER_UNICAST;
  rules.execution = PLACETO_EXECUTION_STAGED;
  rules.dispatch = PLACETO_DISPATCH_PRIORITY;
  rules.latency_us = 4;
  const TopologyBuilder builder = topology_builder("host", rules);
  for (const char* name : {"gpu:0", "cpu:0"}) {
    placeto_device device;
    REQUIRE(placeto_default_device(&device, sizeof device) == PLACETO_OK);
    device.name = name;
    device.kind = name[0] == 'g' ? "gpu" : "cpu";
    device.memory_bytes = name[0] == 'g' ? 1000 : 0;
    device.peak_flops = 1e12;
    device.memory_bandwidth = 1e11;
    device.slowdown = name[0] == 'g' ? 1 : 2;
    device.stage_us = 5;
    REQUIRE(placeto_topology_builder_add_device(builder.get(), &device, nullptr, nullptr) ==
            PLACETO_OK);
  }
  placeto_link link;
  REQUIRE(placeto_default_link(&link, sizeof link) == PLACETO_OK);
  link.from = "gpu:0";
  link.to = "cpu:0";
  link.bandwidth_bytes_per_us = 99;
  link.gap_us = 1;
  link.channel = "bus";
  REQUIRE(placeto_topology_builder_add_link(builder.get(), &link, nullptr) == PLACETO_OK);
  placeto_topology* topology = nullptr;
  REQUIRE(placeto_topology_builder_build(builder.get(), nullptr, &topology, nullptr) == PLACETO_OK);
  return Topology(topology);
}

}  // namespace

TEST_CASE("a graph can be built again from what it says of itself") {
  const Graph graph = unlike_nodes();
  const GraphBuilder again = graph_builder(placeto_graph_name(graph.get()));
  std::vector<const char*> kinds;
  for (uint32_t k = 0; k < placeto_graph_kind_count(graph.get()); ++k) {
    kinds.push_back(placeto_graph_kind(graph.get(), k));
  }
  REQUIRE(placeto_graph_builder_set_kinds(again.get(), kinds.data(), kinds.size(), nullptr) ==
          PLACETO_OK);
  for (uint32_t v = 0; v < placeto_graph_node_count(graph.get()); ++v) {
    placeto_node node;
    node.struct_size = sizeof node;
    REQUIRE(placeto_graph_node(graph.get(), v, &node, nullptr) == PLACETO_OK);
    REQUIRE(placeto_graph_builder_add_node(again.get(), &node, nullptr, nullptr) == PLACETO_OK);
  }
  uint32_t source[3], output[3], target[3];
  REQUIRE(placeto_graph_edges(graph.get(), source, output, target, 3, nullptr) == PLACETO_OK);
  for (int e = 0; e < 3; ++e) {
    REQUIRE(placeto_graph_builder_add_edge(again.get(), source[e], output[e], target[e], nullptr) ==
            PLACETO_OK);
  }
  CHECK(encoded(placeto_graph_encode, build(again)) == encoded(placeto_graph_encode, graph));
}

TEST_CASE("a node says of which domain, version and types its operator is") {
  const Graph graph = unlike_nodes();
  placeto_node node;
  node.struct_size = sizeof node;
  REQUIRE(placeto_graph_node(graph.get(), 0, &node, nullptr) == PLACETO_OK);
  CHECK(std::string(node.domain) == "com.microsoft");
  CHECK(node.opset == 17);
  REQUIRE(node.input_type_count == 3);
  CHECK(std::vector<std::string>(node.input_types, node.input_types + 3) ==
        std::vector<std::string>{"float", "", "int64"});
  REQUIRE(node.allowed_kind_count == 1);
  CHECK(std::string(node.allowed_kinds[0]) == "cpu");
  CHECK(node.fused == 0);
  REQUIRE(placeto_graph_node(graph.get(), 1, &node, nullptr) == PLACETO_OK);
  CHECK(node.fused == 1);
  REQUIRE(placeto_graph_node(graph.get(), 2, &node, nullptr) == PLACETO_OK);
  CHECK(std::string(node.domain) == "");
  CHECK(node.opset == 0);
  CHECK(node.input_type_count == 0);
  REQUIRE(node.allowed_kind_count == 2);
  CHECK(std::string(node.allowed_kinds[1]) == "cpu");
}

TEST_CASE("of an older program's node nothing is taken that it does not know") {
  const GraphBuilder builder = graph_builder("older");
  placeto_node node;
  REQUIRE(placeto_default_node(&node, sizeof node) == PLACETO_OK);
  node.launches = 2;
  node.domain = "ai.onnx";
  node.opset = 17;
  node.fused = 1;
  for (const size_t size : {offsetof(placeto_node, launches), offsetof(placeto_node, domain),
                            offsetof(placeto_node, opset), offsetof(placeto_node, fused)}) {
    node.struct_size = size;
    REQUIRE(placeto_graph_builder_add_node(builder.get(), &node, nullptr, nullptr) == PLACETO_OK);
  }
  const Graph graph = build(builder);
  node.struct_size = sizeof node;
  for (const uint32_t known : {0u, 1u, 2u, 3u}) {
    REQUIRE(placeto_graph_node(graph.get(), known, &node, nullptr) == PLACETO_OK);
    CHECK(node.launches == (known > 0 ? 2 : 0));
    CHECK(std::string(node.domain) == (known > 1 ? "ai.onnx" : ""));
    CHECK(node.opset == (known > 2 ? 17 : 0));
    CHECK(node.fused == 0);
  }
}

TEST_CASE("a topology can be built again from what it says of itself") {
  const Topology topology = unlike_devices();
  placeto_topology_builder* raw = nullptr;
  REQUIRE(placeto_topology_builder_create(placeto_topology_name(topology.get()), &raw, nullptr) ==
          PLACETO_OK);
  const TopologyBuilder again(raw);
  placeto_topology_rules rules;
  rules.struct_size = sizeof rules;
  REQUIRE(placeto_topology_get_rules(topology.get(), &rules, nullptr) == PLACETO_OK);
  REQUIRE(placeto_topology_builder_set_rules(raw, &rules, nullptr) == PLACETO_OK);
  for (uint32_t d = 0; d < 2; ++d) {
    placeto_device device;
    device.struct_size = sizeof device;
    REQUIRE(placeto_topology_device(topology.get(), d, &device, nullptr) == PLACETO_OK);
    REQUIRE(placeto_topology_builder_add_device(raw, &device, nullptr, nullptr) == PLACETO_OK);
  }
  placeto_link link;
  link.struct_size = sizeof link;
  REQUIRE(placeto_topology_link(topology.get(), 0, 1, &link, nullptr) == PLACETO_OK);
  CHECK(std::string(link.channel) == "bus");
  REQUIRE(placeto_topology_builder_add_link(raw, &link, nullptr) == PLACETO_OK);
  placeto_topology* built = nullptr;
  REQUIRE(placeto_topology_builder_build(raw, nullptr, &built, nullptr) == PLACETO_OK);
  CHECK(encoded(placeto_topology_encode, Topology(built)) ==
        encoded(placeto_topology_encode, topology));

  REQUIRE(placeto_topology_link(topology.get(), 1, 0, &link, nullptr) == PLACETO_OK);
  CHECK(link.bandwidth_bytes_per_us == 10);  // the default one, on its sender's own queue
  CHECK(link.latency_us == 4);
  CHECK(link.channel == nullptr);
}

TEST_CASE("run times are those of the cost model") {
  const Graph graph = unlike_nodes();
  const Topology topology = unlike_devices();
  double us[6] = {};
  placeto_error error;
  REQUIRE(placeto_run_times(graph.get(), topology.get(), nullptr, us, 6, &error) == PLACETO_OK);
  CHECK(std::vector<double>(us, us + 6) == std::vector<double>{-1, 10, 7, -1, 1, 4});
  CHECK(placeto_run_times(graph.get(), topology.get(), nullptr, us, 5, &error) ==
        PLACETO_BUFFER_TOO_SMALL);
  CHECK(mentions(error, "expected at least 6"));
}

TEST_CASE("getters refuse what there is not, and fill no more than the caller has") {
  const Graph graph = diamond();
  const Topology topology = devices(2);
  placeto_error error;
  placeto_node node;
  node.struct_size = sizeof node;
  CHECK(placeto_graph_node(graph.get(), 4, &node, &error) == PLACETO_INVALID_ARGUMENT);
  CHECK(mentions(error, "node is 4, expected less than 4"));
  node.struct_size = 8;
  CHECK(placeto_graph_node(graph.get(), 0, &node, &error) == PLACETO_INVALID_ARGUMENT);
  CHECK(mentions(error, "struct_size is 8"));
  CHECK(placeto_graph_edges(graph.get(), nullptr, nullptr, nullptr, 3, &error) ==
        PLACETO_BUFFER_TOO_SMALL);
  CHECK(placeto_graph_kind_count(graph.get()) == 0);
  CHECK(std::string(placeto_graph_kind(graph.get(), 0)) == "");
  placeto_link link;
  link.struct_size = sizeof link;
  CHECK(placeto_topology_link(topology.get(), 0, 0, &link, &error) == PLACETO_INVALID_ARGUMENT);
  CHECK(placeto_topology_link(topology.get(), 0, 2, &link, &error) == PLACETO_INVALID_ARGUMENT);

  placeto_device device;
  std::memset(&device, 0x55, sizeof device);
  device.struct_size = offsetof(placeto_device, stage_us);  // an older program's
  REQUIRE(placeto_topology_device(topology.get(), 1, &device, &error) == PLACETO_OK);
  CHECK(std::string(device.name) == "gpu:1");
  CHECK(device.struct_size == offsetof(placeto_device, stage_us));
  const double untouched = device.stage_us;
  unsigned char bytes[sizeof untouched];
  std::memcpy(bytes, &untouched, sizeof bytes);
  CHECK(bytes[0] == 0x55);
}

TEST_CASE("a file in JSON is refused with what to do") {
  const std::string text = " {\"format_version\": 1, \"name\": \"host\"}";
  const TemporaryFile file("host.json", {text.begin(), text.end()});
  placeto_topology* topology = nullptr;
  placeto_graph* graph = nullptr;
  placeto_error error;
  CHECK(placeto_topology_load_file(file.path(), nullptr, &topology, &error) == PLACETO_BAD_INPUT);
  CHECK(mentions(error, "is JSON"));
  CHECK(mentions(error, "placeto convert"));
  CHECK(placeto_graph_load_file(file.path(), nullptr, &graph, &error) == PLACETO_BAD_INPUT);
  CHECK(mentions(error, "is JSON, expected a graph"));
}

TEST_CASE("within the tolerance, the answer with the fewest stages is handed out") {
  const Graph graph = diamond();
  const Topology topology = devices(2);
  placeto_options chosen = options();
  const double apart = placeto_placement_makespan_us(place(graph, topology, chosen).get());
  chosen.tolerance = 1;  // twice as long will do
  const Placement simple = place(graph, topology, chosen);
  CHECK(placeto_placement_makespan_us(simple.get()) > apart);
  CHECK(assignment_of(simple) == std::vector<uint32_t>(4, assignment_of(simple)[0]));
  chosen.tolerance = 1.5;
  placeto_error error;
  CHECK(try_place(graph, topology, chosen, error) == PLACETO_INVALID_ARGUMENT);
  CHECK(mentions(error, "tolerance is 1.5"));
}
