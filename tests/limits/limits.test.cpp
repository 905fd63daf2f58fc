// Every limit on the size of an input, with its default: what is just within is taken, what is just
// beyond is refused. Where the default is too large to fill in a test, a graph of the same shape
// is tried against a smaller limit, and only what is beyond at full size.
#include <doctest/doctest.h>
#include <unistd.h>

#include <filesystem>
#include <functional>

#include "runtime/base/mapped_file.h"
#include "runtime/cost/problem.h"
#include "runtime/format/file.h"
#include "runtime/format/graph_file.h"
#include "runtime/format/placement_file.h"
#include "runtime/include/placeto/placeto.h"

namespace placeto {
namespace {

GraphSpec graph_of(uint32_t nodes) {
  GraphSpec graph;
  graph.nodes.resize(nodes);
  for (uint32_t v = 0; v < nodes; ++v) {
    graph.nodes[v].name = "n" + std::to_string(v);
    graph.nodes[v].cost_us = {1};
  }
  return graph;
}

// `edges` parallel ways from node 0 to node 1: one per output.
GraphSpec graph_with_edges(uint32_t edges) {
  GraphSpec graph = graph_of(2);
  graph.nodes[0].outputs.assign(edges, 1);
  for (uint32_t o = 0; o < edges; ++o) graph.edges.push_back({0, o, 1});
  return graph;
}

GraphSpec graph_with_kinds(uint32_t kinds) {
  GraphSpec graph = graph_of(1);
  for (uint32_t k = 0; k < kinds; ++k) graph.kinds.push_back("k" + std::to_string(k));
  graph.nodes[0].cost_us.assign(kinds, 1);
  return graph;
}

TopologySpec topology_of(uint32_t devices) {
  TopologySpec topology;
  topology.name = "t";
  topology.default_link = {1000, 0, 0};
  topology.devices.resize(devices);
  for (uint32_t d = 0; d < devices; ++d) {
    topology.devices[d].name = "d" + std::to_string(d);
    topology.devices[d].kind = "k";
    topology.devices[d].slowdown = 1 + d;  // each is a class of its own
  }
  return topology;
}

TopologySpec topology_with_links(uint32_t links) {
  TopologySpec topology = topology_of(1024);
  for (uint32_t from = 0; from < 1024 && topology.links.size() < links; ++from) {
    for (uint32_t to = 0; to < 1024 && topology.links.size() < links; ++to) {
      if (from == to) continue;
      topology.links.push_back(
          {topology.devices[from].name, topology.devices[to].name, {1000, 0, 0}, ""});
    }
  }
  return topology;
}

bool refused(const Status& status, const char* word) {
  return status.code() == StatusCode::kBadInput &&
         status.message().find(word) != std::string::npos &&
         status.message().find("expected") != std::string::npos;
}

class TemporaryFile {
 public:
  TemporaryFile() {
    std::string name = (std::filesystem::temp_directory_path() / "placeto-limit-XXXXXX").string();
    const int fd = mkstemp(name.data());
    REQUIRE(fd >= 0);
    close(fd);
    path_ = name;
  }
  ~TemporaryFile() { std::filesystem::remove(path_); }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;
  const std::string& path() const { return path_; }
  void resize(uint64_t bytes) { std::filesystem::resize_file(path_, bytes); }  // a hole

 private:
  std::string path_;
};

}  // namespace

TEST_CASE("the defaults are those that the C interface documents and hands out") {
  const Limits limits;
  placeto_limits c;
  REQUIRE(placeto_default_limits(&c, sizeof c) == PLACETO_OK);
  CHECK((limits.max_nodes == 2'000'000 && c.max_nodes == 2'000'000));
  CHECK((limits.max_edges == 20'000'000 && c.max_edges == 20'000'000));
  CHECK((limits.max_outputs == 20'000'000 && c.max_outputs == 20'000'000));
  CHECK((limits.max_kinds == 64 && c.max_kinds == 64));
  CHECK((limits.max_devices == 1'024 && c.max_devices == 1'024));
  CHECK((limits.max_links == 1'048'576 && c.max_links == 1'048'576));
  CHECK((limits.max_name_bytes == 4'096 && c.max_name_bytes == 4'096));
  CHECK((limits.max_file_bytes == 2'147'483'647 && c.max_file_bytes == 2'147'483'647));
  CHECK((limits.max_run_entries == 256'000'000 && c.max_run_entries == 256'000'000));
}

TEST_CASE("as many nodes, edges and outputs as the limit are taken, and not one more") {
  CHECK(Graph::build(graph_of(1000), {.max_nodes = 1000}).ok());
  CHECK(refused(Graph::build(graph_of(1001), {.max_nodes = 1000}).status(), "nodes"));
  CHECK(Graph::build(graph_with_edges(1000), {.max_edges = 1000}).ok());
  CHECK(refused(Graph::build(graph_with_edges(1001), {.max_edges = 1000}).status(), "edges"));
  CHECK(Graph::build(graph_with_edges(1000), {.max_outputs = 1000}).ok());
  CHECK(refused(Graph::build(graph_with_edges(1001), {.max_outputs = 1000}).status(), "outputs"));

  // The same from a file, before anything is built.
  const std::vector<uint8_t> bytes = *encode_graph(graph_of(1001));
  CHECK(decode_graph(bytes, {.max_nodes = 1001}).ok());
  CHECK(refused(decode_graph(bytes, {.max_nodes = 1000}).status(), "nodes"));
  const std::vector<uint8_t> edges = *encode_graph(graph_with_edges(1001));
  CHECK(decode_graph(edges, {.max_edges = 1001, .max_outputs = 1001}).ok());
  CHECK(refused(decode_graph(edges, {.max_edges = 1000}).status(), "edges"));
  CHECK(refused(decode_graph(edges, {.max_outputs = 1000}).status(), "outputs"));
}

TEST_CASE("64 kinds are taken, 65 refused") {
  CHECK(Graph::build(graph_with_kinds(64)).ok());
  CHECK(refused(Graph::build(graph_with_kinds(65)).status(), "kinds"));
}

TEST_CASE("1,024 devices are taken, 1,025 refused") {
  CHECK(Topology::build(topology_of(1024)).ok());
  CHECK(refused(Topology::build(topology_of(1025)).status(), "devices"));
  PlacementSpec placement;
  placement.graph = "g";
  placement.assignment = {0};
  for (uint32_t d = 0; d < 1024; ++d) placement.devices.push_back("d" + std::to_string(d));
  CHECK(decode_placement(*encode_placement(placement)).ok());
  placement.devices.emplace_back("one more");
  const auto bytes = encode_placement(placement);
  CHECK(refused(bytes.ok() ? decode_placement(*bytes).status() : bytes.status(), "devices"));
}

TEST_CASE("as many links as the limit are taken, and not one more") {
  CHECK(Topology::build(topology_with_links(5000), {.max_links = 5000}).ok());
  CHECK(refused(Topology::build(topology_with_links(5001), {.max_links = 5000}).status(), "links"));
}

TEST_CASE("names of 4,096 bytes are taken, of 4,097 refused, wherever they stand") {
  const std::function<void(GraphSpec&, const std::string&)> graph_names[] = {
      [](GraphSpec& g, const std::string& name) { g.name = name; },
      [](GraphSpec& g, const std::string& name) { g.nodes[1].name = name; },
      [](GraphSpec& g, const std::string& name) { g.nodes[1].op = name; },
      [](GraphSpec& g, const std::string& name) { g.nodes[1].colocate = name; },
      [](GraphSpec& g, const std::string& name) { g.nodes[1].domain = name; },
      [](GraphSpec& g, const std::string& name) { g.nodes[1].allowed_kinds = {name}; },
      [](GraphSpec& g, const std::string& name) { g.nodes[1].input_types = {name}; },
      [](GraphSpec& g, const std::string& name) { g.kinds = {name}; }};
  for (const auto& set : graph_names) {
    GraphSpec within = graph_of(2), beyond = within;
    set(within, std::string(4096, 'x'));
    set(beyond, std::string(4097, 'x'));
    CHECK(Graph::build(within).ok());
    CHECK(refused(Graph::build(beyond).status(), "4097 bytes long"));
  }
  const std::function<void(TopologySpec&, const std::string&)> topology_names[] = {
      [](TopologySpec& t, const std::string& name) { t.name = name; },
      [](TopologySpec& t, const std::string& name) { t.devices[1].name = name; },
      [](TopologySpec& t, const std::string& name) { t.devices[1].kind = name; },
      [](TopologySpec& t, const std::string& name) {
        t.links.push_back({"d0", "d1", {1000, 0, 0}, name});
      }};
  for (const auto& set : topology_names) {
    TopologySpec within = topology_of(2), beyond = within;
    set(within, std::string(4096, 'x'));
    set(beyond, std::string(4097, 'x'));
    CHECK(Topology::build(within).ok());
    CHECK(refused(Topology::build(beyond).status(), "4097 bytes long"));
  }
}

TEST_CASE("a file of as many bytes as the limit is taken, and not one more") {
  TemporaryFile file;
  file.resize(100'000);
  CHECK(read_file(file.path(), 100'000).ok());
  CHECK(MappedFile::open(file.path(), 100'000).ok());
  CHECK(refused(read_file(file.path(), 99'999).status(), "97.7 KiB"));
  CHECK(refused(MappedFile::open(file.path(), 99'999).status(), "97.7 KiB"));
  // At the default: of a file that is only a hole nothing has to be read to map it.
  const uint64_t most = Limits().max_file_bytes;
  file.resize(most);
  CHECK(MappedFile::open(file.path(), most).ok());
  file.resize(most + 1);
  CHECK(refused(MappedFile::open(file.path(), most).status(), "2.00 GiB"));
  CHECK(refused(read_file(file.path(), most).status(), "2.00 GiB"));
}

TEST_CASE("as many run times as the limit are compiled, and not one more") {
  const Graph graph = *Graph::build(graph_of(1000));
  const Topology topology = *Topology::build(topology_of(100));
  CHECK(Problem::build(graph, topology, {}, {.max_run_entries = 100'000}).ok());
  CHECK(
      refused(Problem::build(graph, topology, {}, {.max_run_entries = 99'999}).status(), "99999"));
  // At the default: nothing of the 2 GB is asked for.
  const Graph large = *Graph::build(graph_of(250'001));
  const Topology wide = *Topology::build(topology_of(1024));
  CHECK(refused(Problem::build(large, wide).status(), "256000000"));
}

}  // namespace placeto
