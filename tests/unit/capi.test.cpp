// The C interface: errors, graphs and topologies. Policies: capi_load.test.cpp. Placing:
// capi_place.test.cpp.
#include <doctest/doctest.h>

#include <algorithm>
#include <limits>

#include "tests/unit/capi_support.h"

using namespace capi_test;

namespace {

template <class Object, class Encode>
std::vector<uint8_t> encoded(const Object* object, Encode encode) {
  size_t size = 0;
  REQUIRE(encode(object, nullptr, 0, &size, nullptr) == PLACETO_OK);
  std::vector<uint8_t> bytes(size);
  REQUIRE(encode(object, bytes.data(), bytes.size(), &size, nullptr) == PLACETO_OK);
  return bytes;
}

// The two-call contract of every ..._encode function.
template <class Object, class Encode>
void check_encode_contract(const Object* object, Encode encode) {
  placeto_error error;
  const std::vector<uint8_t> bytes = encoded(object, encode);
  REQUIRE(bytes.size() > 8);
  std::vector<uint8_t> small(bytes.size() - 1, 0xaa);
  size_t size = 0;
  CHECK(encode(object, small.data(), small.size(), &size, &error) == PLACETO_BUFFER_TOO_SMALL);
  CHECK(size == bytes.size());
  CHECK(mentions(error, std::to_string(bytes.size()).c_str()));
  CHECK(std::count(small.begin(), small.end(), 0xaa) == static_cast<long>(small.size()));
  CHECK(encode(nullptr, small.data(), small.size(), &size, &error) == PLACETO_INVALID_ARGUMENT);
  CHECK(encode(object, small.data(), small.size(), nullptr, &error) == PLACETO_INVALID_ARGUMENT);
}

}  // namespace

TEST_CASE("the library says which version it is") {
  CHECK(placeto_version() == PLACETO_VERSION);
  CHECK(PLACETO_MAKE_VERSION(1, 2, 3) == 1002003u);
  const std::string text = std::to_string(PLACETO_VERSION_MAJOR) + "." +
                           std::to_string(PLACETO_VERSION_MINOR) + "." +
                           std::to_string(PLACETO_VERSION_PATCH);
  CHECK(placeto_version_text() == text);
}

TEST_CASE("every status has a name of its own") {
  std::vector<std::string> names;
  for (placeto_status s = PLACETO_OK; s <= PLACETO_NOT_FOUND; ++s) {
    names.emplace_back(placeto_status_text(s));
  }
  std::sort(names.begin(), names.end());
  CHECK(std::adjacent_find(names.begin(), names.end()) == names.end());
  CHECK(std::find(names.begin(), names.end(), "unknown") == names.end());
  CHECK(std::string(placeto_status_text(-1)) == "unknown");
  CHECK(std::string(placeto_status_text(10)) == "unknown");
}

TEST_CASE("default functions fill exactly the struct they know and refuse other sizes") {
  const auto check = [](auto type, auto function, size_t) {
    decltype(type) value;
    CHECK(function(&value, sizeof value) == PLACETO_OK);
    CHECK(value.struct_size == sizeof value);
    std::memset(&value, 0x5a, sizeof value);
    const decltype(type) before = value;
    CHECK(function(&value, sizeof value - 1) == PLACETO_INVALID_ARGUMENT);
    CHECK(function(&value, sizeof value + 8) == PLACETO_INVALID_ARGUMENT);
    CHECK(function(&value, 0) == PLACETO_INVALID_ARGUMENT);
    CHECK(std::memcmp(&value, &before, sizeof value) == 0);
    CHECK(function(nullptr, sizeof value) == PLACETO_INVALID_ARGUMENT);
  };
  for_all_defaults(check);
}

TEST_CASE("freeing nothing is allowed") {
  placeto_policy_free(nullptr);
  placeto_graph_free(nullptr);
  placeto_graph_builder_free(nullptr);
  placeto_topology_free(nullptr);
  placeto_topology_builder_free(nullptr);
  placeto_placement_free(nullptr);
  placeto_cancel_free(nullptr);
  placeto_cancel_request(nullptr);
  placeto_cancel_reset(nullptr);
}

TEST_CASE("getters answer nothing for NULL and for indices out of range") {
  CHECK(std::string(placeto_policy_architecture(nullptr)).empty());
  CHECK(placeto_policy_parameter_count(nullptr) == 0);
  CHECK(placeto_policy_file_bytes(nullptr) == 0);
  CHECK(std::string(placeto_graph_name(nullptr)).empty());
  CHECK(placeto_graph_node_count(nullptr) == 0);
  CHECK(placeto_graph_edge_count(nullptr) == 0);
  CHECK(std::string(placeto_graph_node_name(nullptr, 0)).empty());
  CHECK(placeto_graph_find_node(nullptr, "in") == PLACETO_NONE);
  CHECK(std::string(placeto_topology_name(nullptr)).empty());
  CHECK(placeto_topology_device_count(nullptr) == 0);
  CHECK(std::string(placeto_topology_device_name(nullptr, 0)).empty());
  CHECK(std::string(placeto_topology_device_kind(nullptr, 0)).empty());
  CHECK(placeto_topology_find_device(nullptr, "gpu:0") == PLACETO_NONE);

  const Graph graph = diamond();
  CHECK(std::string(placeto_graph_node_name(graph.get(), 4)).empty());
  CHECK(placeto_graph_find_node(graph.get(), nullptr) == PLACETO_NONE);
  CHECK(placeto_graph_find_node(graph.get(), "none") == PLACETO_NONE);
  const Topology topology = devices(2);
  CHECK(std::string(placeto_topology_device_name(topology.get(), 2)).empty());
  CHECK(std::string(placeto_topology_device_kind(topology.get(), 2)).empty());
  CHECK(placeto_topology_find_device(topology.get(), nullptr) == PLACETO_NONE);
  CHECK(placeto_topology_find_device(topology.get(), "none") == PLACETO_NONE);
}

TEST_CASE("a builder makes the graph it was told") {
  const Graph graph = diamond();
  CHECK(std::string(placeto_graph_name(graph.get())) == "diamond");
  CHECK(placeto_graph_node_count(graph.get()) == 4);
  CHECK(placeto_graph_edge_count(graph.get()) == 4);
  CHECK(std::string(placeto_graph_node_name(graph.get(), 2)) == "right");
  CHECK(placeto_graph_find_node(graph.get(), "right") == 2);
}

TEST_CASE("an error is cleared by the next success, and may be left out") {
  placeto_error error;
  placeto_graph_builder* builder = nullptr;
  CHECK(placeto_graph_builder_create("g", nullptr, &error) == PLACETO_INVALID_ARGUMENT);
  CHECK(error.status == PLACETO_INVALID_ARGUMENT);
  CHECK(std::string(error.message) == "builder is NULL");
  CHECK(placeto_graph_builder_create("g", nullptr, nullptr) == PLACETO_INVALID_ARGUMENT);
  CHECK(placeto_graph_builder_create(nullptr, &builder, &error) == PLACETO_OK);
  CHECK(error.status == PLACETO_OK);
  CHECK(std::string(error.message).empty());
  placeto_graph_builder_free(builder);
}

TEST_CASE("a graph builder refuses NULL, unknown structs and lists without address") {
  const GraphBuilder builder = graph_builder("g");
  placeto_error error;
  placeto_node node;
  placeto_default_node(&node, sizeof node);
  CHECK(placeto_graph_builder_add_node(nullptr, &node, nullptr, &error) ==
        PLACETO_INVALID_ARGUMENT);
  CHECK(placeto_graph_builder_add_node(builder.get(), nullptr, nullptr, &error) ==
        PLACETO_INVALID_ARGUMENT);
  node.struct_size += 8;
  CHECK(placeto_graph_builder_add_node(builder.get(), &node, nullptr, &error) ==
        PLACETO_INVALID_ARGUMENT);
  CHECK(mentions(error, "struct_size"));
  node.struct_size = sizeof node;
  node.cost_count = 1;
  CHECK(placeto_graph_builder_add_node(builder.get(), &node, nullptr, &error) ==
        PLACETO_INVALID_ARGUMENT);
  CHECK(mentions(error, "cost_us"));
  node.cost_count = 0;
  node.output_count = 1;
  CHECK(placeto_graph_builder_add_node(builder.get(), &node, nullptr, &error) ==
        PLACETO_INVALID_ARGUMENT);
  CHECK(mentions(error, "outputs"));
  node.output_count = 0;
  const char* const kinds[] = {"gpu", nullptr};
  node.allowed_kinds = kinds;
  node.allowed_kind_count = 2;
  CHECK(placeto_graph_builder_add_node(builder.get(), &node, nullptr, &error) ==
        PLACETO_INVALID_ARGUMENT);
  CHECK(mentions(error, "allowed_kinds[1]"));
  node.allowed_kind_count = 1;
  node.input_types = kinds;
  node.input_type_count = 2;
  CHECK(placeto_graph_builder_add_node(builder.get(), &node, nullptr, &error) ==
        PLACETO_INVALID_ARGUMENT);
  CHECK(mentions(error, "input_types[1]"));
  node.input_types = nullptr;
  CHECK(placeto_graph_builder_add_node(builder.get(), &node, nullptr, &error) ==
        PLACETO_INVALID_ARGUMENT);
  CHECK(mentions(error, "input_types is NULL, expected 2 entries"));
  CHECK(placeto_graph_builder_set_kinds(builder.get(), kinds, 2, &error) ==
        PLACETO_INVALID_ARGUMENT);
  CHECK(placeto_graph_builder_set_kinds(nullptr, kinds, 1, &error) == PLACETO_INVALID_ARGUMENT);
  CHECK(placeto_graph_builder_set_kinds(builder.get(), kinds, 1, &error) == PLACETO_OK);
  CHECK(placeto_graph_builder_add_edge(nullptr, 0, 0, 1, &error) == PLACETO_INVALID_ARGUMENT);
}

TEST_CASE("a list of more entries than there can be is refused before it is read") {
  const GraphBuilder builder = graph_builder("g");
  const double cost = 1;
  const uint64_t output = 1;
  const char* const kind = "gpu";
  placeto_error error;
  for (const int power : {33, 58, 61, 62, 63}) {
    if (power >= std::numeric_limits<size_t>::digits) continue;
    const size_t count = size_t{1} << power;
    placeto_node node;
    REQUIRE(placeto_default_node(&node, sizeof node) == PLACETO_OK);
    const placeto_node plain = node;
    const auto refused = [&](const char* name) {
      CHECK(placeto_graph_builder_add_node(builder.get(), &node, nullptr, &error) ==
            PLACETO_INVALID_ARGUMENT);
      CHECK(mentions(error, name));
      node = plain;
    };
    node.cost_us = &cost, node.cost_count = count;
    refused("cost_us is said to have ");
    node.outputs = &output, node.output_count = count;
    refused("outputs is said to have ");
    node.allowed_kinds = &kind, node.allowed_kind_count = count;
    refused("allowed_kinds is said to have ");
    node.input_types = &kind, node.input_type_count = count;
    refused("input_types is said to have ");
    CHECK(placeto_graph_builder_set_kinds(builder.get(), &kind, count, &error) ==
          PLACETO_INVALID_ARGUMENT);
  }
}

TEST_CASE("a node's domain and input types have the bounds that they have in files") {
  const std::string within(4096, 'x'), beyond(4097, 'x');
  const auto built = [](const char* domain, const std::vector<const char*>& types,
                        placeto_error& error) {
    const GraphBuilder builder = graph_builder("g");
    placeto_node node;
    REQUIRE(placeto_default_node(&node, sizeof node) == PLACETO_OK);
    node.name = "a";
    node.domain = domain;
    node.opset = 4294967295u;
    node.input_types = types.data();
    node.input_type_count = types.size();
    REQUIRE(placeto_graph_builder_add_node(builder.get(), &node, nullptr, nullptr) == PLACETO_OK);
    placeto_graph* graph = nullptr;
    const placeto_status status =
        placeto_graph_builder_build(builder.get(), nullptr, &graph, &error);
    placeto_graph_free(graph);
    return status;
  };
  placeto_error error;
  CHECK(built(within.c_str(), {"", within.c_str()}, error) == PLACETO_OK);
  CHECK(built("", std::vector<const char*>(4096, "float"), error) == PLACETO_OK);
  CHECK(built(beyond.c_str(), {}, error) == PLACETO_BAD_INPUT);
  CHECK(mentions(error, "nodes[0] 'a': domain: "));
  CHECK(mentions(error, "expected at most 4096"));
  CHECK(built("\xff", {}, error) == PLACETO_BAD_INPUT);
  CHECK(mentions(error, "nodes[0] 'a': domain: "));
  CHECK(built("", {"float", beyond.c_str()}, error) == PLACETO_BAD_INPUT);
  CHECK(mentions(error, "nodes[0] 'a': input_types[1]: "));
  CHECK(built("", std::vector<const char*>(4097, "float"), error) == PLACETO_BAD_INPUT);
  CHECK(mentions(error, "nodes[0] 'a': input_types: 4097 entries, expected at most 4096"));
}

TEST_CASE("what is wrong with a graph is said when it is built, and the builder stays usable") {
  const GraphBuilder builder = graph_builder("g");
  add_node(builder.get(), "a", 1, 1);
  add_node(builder.get(), "b", 1, 1);
  add_edge(builder.get(), 0, 1);
  placeto_graph* graph = nullptr;
  placeto_error error;
  CHECK(placeto_graph_builder_build(nullptr, nullptr, &graph, &error) == PLACETO_INVALID_ARGUMENT);
  CHECK(placeto_graph_builder_build(builder.get(), nullptr, nullptr, &error) ==
        PLACETO_INVALID_ARGUMENT);
  placeto_limits limits;
  placeto_default_limits(&limits, sizeof limits);
  limits.max_nodes = 1;
  CHECK(placeto_graph_builder_build(builder.get(), &limits, &graph, &error) == PLACETO_BAD_INPUT);
  CHECK(graph == nullptr);
  limits.struct_size = 3;
  CHECK(placeto_graph_builder_build(builder.get(), &limits, &graph, &error) ==
        PLACETO_INVALID_ARGUMENT);
  CHECK(build(builder) != nullptr);

  add_edge(builder.get(), 1, 0);
  graph = reinterpret_cast<placeto_graph*>(&limits);
  CHECK(placeto_graph_builder_build(builder.get(), nullptr, &graph, &error) == PLACETO_BAD_INPUT);
  CHECK(graph == nullptr);
  CHECK(mentions(error, "cycle"));
}

TEST_CASE("a long message is cut at a whole character") {
  // Names are shown in part, so a long path is needed.
  std::string path = "/";
  while (path.size() < 1'500) path += "\xc3\xa4";
  placeto_graph* graph = nullptr;
  for (const std::string& p : {path, "/x" + path, "/xy" + path}) {
    placeto_error error;
    std::memset(&error, 0xff, sizeof error);
    CHECK(placeto_graph_load_file(p.c_str(), nullptr, &graph, &error) == PLACETO_IO);
    const size_t length = std::strlen(error.message);
    CHECK(length < sizeof error.message);
    CHECK(length > sizeof error.message - 4);
    const std::string message = error.message;
    CHECK(message.substr(message.size() - 3) == "...");
    CHECK(static_cast<unsigned char>(message[message.size() - 4]) == 0xa4);
  }
}

TEST_CASE("graphs survive encoding, from memory and from a file") {
  const Graph graph = diamond();
  check_encode_contract(graph.get(), placeto_graph_encode);
  const std::vector<uint8_t> bytes = encoded(graph.get(), placeto_graph_encode);
  placeto_graph* loaded = nullptr;
  placeto_error error;
  REQUIRE(placeto_graph_load_memory(bytes.data(), bytes.size(), nullptr, &loaded, &error) ==
          PLACETO_OK);
  Graph copy(loaded);
  CHECK(encoded(copy.get(), placeto_graph_encode) == bytes);
  const TemporaryFile file("graph.plgr", bytes);
  REQUIRE(placeto_graph_load_file(file.path(), nullptr, &loaded, &error) == PLACETO_OK);
  copy.reset(loaded);
  CHECK(encoded(copy.get(), placeto_graph_encode) == bytes);

  CHECK(placeto_graph_load_memory(nullptr, 0, nullptr, &loaded, &error) ==
        PLACETO_INVALID_ARGUMENT);
  CHECK(placeto_graph_load_memory(bytes.data(), bytes.size(), nullptr, nullptr, &error) ==
        PLACETO_INVALID_ARGUMENT);
  CHECK(placeto_graph_load_memory(bytes.data(), bytes.size() - 1, nullptr, &loaded, &error) ==
        PLACETO_BAD_INPUT);
  CHECK(loaded == nullptr);
  CHECK(placeto_graph_load_file(nullptr, nullptr, &loaded, &error) == PLACETO_INVALID_ARGUMENT);
  CHECK(placeto_graph_load_file("no such file", nullptr, &loaded, &error) == PLACETO_IO);
  CHECK(mentions(error, "no such file: "));
  const TemporaryFile broken("broken.plgr", {1, 2, 3});
  CHECK(placeto_graph_load_file(broken.path(), nullptr, &loaded, &error) == PLACETO_BAD_INPUT);
  CHECK(mentions(error, broken.path()));
}

TEST_CASE("topologies survive encoding, from memory and from a file") {
  const Topology topology = devices(3, 5'000);
  CHECK(std::string(placeto_topology_name(topology.get())) == "host");
  CHECK(placeto_topology_device_count(topology.get()) == 3);
  CHECK(std::string(placeto_topology_device_name(topology.get(), 1)) == "gpu:1");
  CHECK(std::string(placeto_topology_device_kind(topology.get(), 1)) == "gpu");
  CHECK(placeto_topology_find_device(topology.get(), "gpu:2") == 2);
  check_encode_contract(topology.get(), placeto_topology_encode);
  const std::vector<uint8_t> bytes = encoded(topology.get(), placeto_topology_encode);
  placeto_topology* loaded = nullptr;
  placeto_error error;
  REQUIRE(placeto_topology_load_memory(bytes.data(), bytes.size(), nullptr, &loaded, &error) ==
          PLACETO_OK);
  Topology copy(loaded);
  CHECK(encoded(copy.get(), placeto_topology_encode) == bytes);
  const TemporaryFile file("topology.plto", bytes);
  REQUIRE(placeto_topology_load_file(file.path(), nullptr, &loaded, &error) == PLACETO_OK);
  copy.reset(loaded);
  CHECK(encoded(copy.get(), placeto_topology_encode) == bytes);

  CHECK(placeto_topology_load_memory(nullptr, 0, nullptr, &loaded, &error) ==
        PLACETO_INVALID_ARGUMENT);
  CHECK(placeto_topology_load_memory(bytes.data(), 20, nullptr, &loaded, &error) ==
        PLACETO_BAD_INPUT);
  CHECK(placeto_topology_load_file("no such file", nullptr, &loaded, &error) == PLACETO_IO);
  CHECK(placeto_topology_load_file(nullptr, nullptr, &loaded, &error) == PLACETO_INVALID_ARGUMENT);
  const TemporaryFile graph("graph2.plgr", encoded(diamond().get(), placeto_graph_encode));
  CHECK(placeto_topology_load_file(graph.path(), nullptr, &loaded, &error) == PLACETO_BAD_INPUT);
  CHECK(mentions(error, "graph"));
}

TEST_CASE("a topology builder refuses what it cannot read and reports what is wrong") {
  placeto_error error;
  placeto_topology_builder* raw = nullptr;
  CHECK(placeto_topology_builder_create("t", nullptr, &error) == PLACETO_INVALID_ARGUMENT);
  REQUIRE(placeto_topology_builder_create(nullptr, &raw, &error) == PLACETO_OK);
  const TopologyBuilder builder(raw);
  placeto_topology_rules rules;
  placeto_default_topology_rules(&rules, sizeof rules);
  CHECK(placeto_topology_builder_set_rules(nullptr, &rules, &error) == PLACETO_INVALID_ARGUMENT);
  CHECK(placeto_topology_builder_set_rules(raw, nullptr, &error) == PLACETO_INVALID_ARGUMENT);
  for (int32_t* field : {&rules.contention, &rules.transfer, &rules.execution, &rules.dispatch}) {
    for (const int32_t wrong : {-1, field == &rules.execution ? 3 : 2}) {
      *field = wrong;
      CHECK(placeto_topology_builder_set_rules(raw, &rules, &error) == PLACETO_INVALID_ARGUMENT);
    }
    *field = 1;
  }
  rules.struct_size = 8;
  CHECK(placeto_topology_builder_set_rules(raw, &rules, &error) == PLACETO_INVALID_ARGUMENT);
  rules.struct_size = sizeof rules;
  CHECK(placeto_topology_builder_set_rules(raw, &rules, &error) == PLACETO_OK);

  placeto_device device;
  placeto_default_device(&device, sizeof device);
  CHECK(device.slowdown == 1);
  device.name = "npu:0";
  device.kind = "npu";
  CHECK(placeto_topology_builder_add_device(nullptr, &device, nullptr, &error) ==
        PLACETO_INVALID_ARGUMENT);
  CHECK(placeto_topology_builder_add_device(raw, nullptr, nullptr, &error) ==
        PLACETO_INVALID_ARGUMENT);
  device.struct_size = 0;
  CHECK(placeto_topology_builder_add_device(raw, &device, nullptr, &error) ==
        PLACETO_INVALID_ARGUMENT);
  device.struct_size = sizeof device;
  CHECK(placeto_topology_builder_add_device(raw, &device, nullptr, &error) == PLACETO_OK);

  placeto_link link;
  placeto_default_link(&link, sizeof link);
  link.from = "npu:0";
  link.to = "elsewhere";
  link.bandwidth_bytes_per_us = 1;
  CHECK(placeto_topology_builder_add_link(nullptr, &link, &error) == PLACETO_INVALID_ARGUMENT);
  CHECK(placeto_topology_builder_add_link(raw, nullptr, &error) == PLACETO_INVALID_ARGUMENT);
  link.struct_size = 1;
  CHECK(placeto_topology_builder_add_link(raw, &link, &error) == PLACETO_INVALID_ARGUMENT);
  link.struct_size = sizeof link;
  CHECK(placeto_topology_builder_add_link(raw, &link, &error) == PLACETO_OK);

  placeto_topology* topology = nullptr;
  CHECK(placeto_topology_builder_build(raw, nullptr, nullptr, &error) == PLACETO_INVALID_ARGUMENT);
  CHECK(placeto_topology_builder_build(nullptr, nullptr, &topology, &error) ==
        PLACETO_INVALID_ARGUMENT);
  CHECK(placeto_topology_builder_build(raw, nullptr, &topology, &error) == PLACETO_BAD_INPUT);
  CHECK(mentions(error, "elsewhere"));
  CHECK(topology == nullptr);
}
