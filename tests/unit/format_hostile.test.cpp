// Binary files that are damaged, of another kind, or made to hurt.
#include <doctest/doctest.h>
#include <graph_generated.h>
#include <topology_generated.h>

#include <limits>

#include "runtime/format/graph_file.h"
#include "runtime/format/placement_file.h"
#include "runtime/format/topology_file.h"
#include "tests/unit/format_support.h"

namespace placeto {
namespace {

using flatbuffers::FlatBufferBuilder;
using test::contains;
using test::message_of;
using Bytes = std::vector<uint8_t>;

Bytes finished_bytes(const FlatBufferBuilder& builder) {
  return {builder.GetBufferPointer(), builder.GetBufferPointer() + builder.GetSize()};
}

// Decodes and, if that succeeds, builds: what a program does with a file.
std::string use_graph(std::span<const uint8_t> bytes) {
  const auto spec = decode_graph(bytes);
  return spec.ok() ? message_of(Graph::build(*spec)) : message_of(spec);
}
std::string use_topology(std::span<const uint8_t> bytes) {
  const auto spec = decode_topology(bytes);
  return spec.ok() ? message_of(Topology::build(*spec)) : message_of(spec);
}
std::string use_placement(std::span<const uint8_t> bytes) {
  return message_of(decode_placement(bytes));
}

struct HostileSample {
  Bytes bytes;
  std::string (*use)(std::span<const uint8_t>);
  const char* kind;
};

std::vector<HostileSample> samples() {
  Random random(7);
  return {{*encode_graph(test::random_graph(random)), use_graph, "graph"},
          {*encode_topology(test::random_topology(random)), use_topology, "topology"},
          {*encode_placement(test::random_placement(random)), use_placement, "placement"}};
}

// Each visit copies the prefix to memory of exactly its size, so that a sanitizer sees overruns.
template <class Visit>
void for_each_prefix(const Bytes& bytes, Visit visit) {
  for (size_t size = 0; size < bytes.size(); ++size) {
    const Bytes prefix(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(size));
    visit(prefix);
  }
}

}  // namespace

TEST_CASE("a file cut short at any byte is refused, and the message says so") {
  for (const HostileSample& sample : samples()) {
    REQUIRE(sample.use(sample.bytes) == "ok");
    for_each_prefix(sample.bytes, [&sample](const Bytes& prefix) {
      const std::string message = sample.use(prefix);
      const std::string expected =
          prefix.size() < 12
              ? "is " + std::to_string(prefix.size()) + " bytes long, expected a " + sample.kind
              : "is truncated or damaged: its " + std::to_string(prefix.size()) +
                    " bytes are not a well-formed " + sample.kind;
      CHECK_MESSAGE(message.starts_with(expected), message);
    });
  }
}

TEST_CASE("a flipped bit anywhere gives a description or an error, never a crash") {
  for (const HostileSample& sample : samples()) {
    Bytes bytes = sample.bytes;
    size_t refused = 0;
    for (size_t bit = 0; bit < 8 * bytes.size(); ++bit) {
      const auto mask = static_cast<uint8_t>(1u << (bit % 8));
      bytes[bit / 8] ^= mask;
      refused += sample.use(bytes) != "ok";
      bytes[bit / 8] ^= mask;
    }
    CHECK(refused > bytes.size());  // offsets, sizes, the identifier, the version, numbers
    CHECK(sample.use(bytes) == "ok");
  }
}

TEST_CASE("random damage in several places never crashes") {
  Random random(11);
  for (const HostileSample& sample : samples()) {
    for (int i = 0; i < 3000; ++i) {
      Bytes bytes = sample.bytes;
      for (uint32_t hits = 1 + random.below(6); hits > 0; --hits) {
        const uint32_t at = random.below(static_cast<uint32_t>(bytes.size()));
        bytes[at] = random.below(2) == 0 ? static_cast<uint8_t>(random.below(256))
                                         : static_cast<uint8_t>(random.below(2) * 255);
      }
      (void)sample.use(bytes);
    }
  }
}

TEST_CASE("bytes after the end are refused") {
  for (const HostileSample& sample : samples()) {
    for (const size_t extra : {1u, 3u, 4u, 1000u}) {
      Bytes bytes = sample.bytes;
      bytes.resize(bytes.size() + extra);
      CHECK(sample.use(bytes) == "has " + std::to_string(extra) + " bytes after the " +
                                     sample.kind + " ends, expected the file to end at byte " +
                                     std::to_string(sample.bytes.size()));
    }
  }
}

TEST_CASE("another kind of file is named, and so is what was expected") {
  const std::vector<HostileSample> all = samples();
  CHECK(use_graph(all[1].bytes) ==
        "is a topology (identifier PLTO), expected a graph (identifier PLGR at byte 4)");
  CHECK(use_topology(all[2].bytes) ==
        "is a placement (identifier PLPL), expected a topology (identifier PLTO at byte 4)");
  CHECK(use_placement(all[0].bytes) ==
        "is a graph (identifier PLGR), expected a placement (identifier PLPL at byte 4)");
  CHECK(use_graph(Bytes(64)) ==
        "has no known identifier, expected a graph (identifier PLGR at byte 4)");
  CHECK(use_graph({}) == "is 0 bytes long, expected a graph (identifier PLGR at byte 4)");
}

TEST_CASE("a file over the size limit is refused before anything is read from it") {
  const Bytes bytes = samples()[0].bytes;
  CHECK(message_of(decode_graph(bytes, {.max_file_bytes = 20})) ==
        "is " + std::to_string(bytes.size()) + " bytes long, expected at most 20");
}

TEST_CASE("the version must be given and known") {
  for (const uint32_t version : {0u, 2u}) {
    FlatBufferBuilder builder;
    const std::vector<flatbuffers::Offset<schema::Node>> nodes = {schema::CreateNode(builder)};
    const auto list = builder.CreateVector(nodes);
    schema::FinishGraphBuffer(builder, schema::CreateGraph(builder, version, 0, 0, list));
    CHECK(use_graph(finished_bytes(builder)) ==
          (version == 0 ? "format_version is absent or 0, expected 1"
                        : "format_version is 2, expected 1: a newer version of Placeto may read "
                          "this file"));
  }
}

TEST_CASE("a field that this version does not know is refused") {
  FlatBufferBuilder builder;
  const uint32_t start = builder.StartTable();
  builder.AddElement<uint32_t>(4 + 2 * 0, 5);  // source
  builder.AddElement<uint32_t>(4 + 2 * 3, 5);  // one field beyond target
  const flatbuffers::Offset<schema::Edge> edge(builder.EndTable(start));
  const auto nodes = builder.CreateVector(
      std::vector<flatbuffers::Offset<schema::Node>>{schema::CreateNode(builder)});
  const auto edges = builder.CreateVector(std::vector{edge});
  schema::FinishGraphBuffer(builder, schema::CreateGraph(builder, 1, 0, 0, nodes, edges));
  CHECK(use_graph(finished_bytes(builder)) ==
        "edges[0]: has 4 fields, expected at most 3: a newer version may have written "
        "this file");
}

TEST_CASE("rules of a topology outside their enumerations are refused") {
  FlatBufferBuilder builder;
  schema::TopologyBuilder topology(builder);
  topology.add_format_version(1);
  topology.add_transfer(static_cast<schema::Transfer>(2));
  schema::FinishTopologyBuffer(builder, topology.Finish());
  CHECK(use_topology(finished_bytes(builder)) ==
        "transfer is 2, expected 0 (broadcast) or 1 (unicast)");
}

TEST_CASE("numbers that are not finite pass decoding and are refused by place") {
  GraphSpec spec;
  spec.nodes.resize(1);
  spec.nodes[0].cost_us = {std::numeric_limits<double>::infinity()};
  CHECK(contains(use_graph(*encode_graph(spec)), "nodes[0] '': cost_us[0] is infinity"));
}

TEST_CASE("many nodes that share one long name are refused before they are copied") {
  FlatBufferBuilder builder;
  const auto name = builder.CreateString(std::string(4096, 'x'));
  const auto node = schema::CreateNode(builder, name);
  const auto nodes =
      builder.CreateVector(std::vector<flatbuffers::Offset<schema::Node>>(1'000'000, node));
  schema::FinishGraphBuffer(builder, schema::CreateGraph(builder, 1, 0, 0, nodes));
  CHECK(contains(use_graph(finished_bytes(builder)), "expected a file that shares less"));
}

TEST_CASE("many nodes that share one long list of outputs are over the limit of outputs") {
  FlatBufferBuilder builder;
  const auto outputs = builder.CreateVector(std::vector<uint64_t>(100'000));
  const auto node = schema::CreateNode(builder, 0, 0, 0, outputs);
  const auto nodes =
      builder.CreateVector(std::vector<flatbuffers::Offset<schema::Node>>(1'000'000, node));
  schema::FinishGraphBuffer(builder, schema::CreateGraph(builder, 1, 0, 0, nodes));
  const std::string message = use_graph(finished_bytes(builder));
  CHECK_MESSAGE((contains(message, "outputs: ") || contains(message, "shares less")), message);
}

TEST_CASE("many nodes that share one long list of strings are refused in linear time") {
  for (const auto field : {schema::Node::VT_ALLOWED_KINDS, schema::Node::VT_INPUT_TYPES}) {
    FlatBufferBuilder builder;
    const auto list = builder.CreateVector(std::vector<flatbuffers::Offset<flatbuffers::String>>(
        1'000'000, builder.CreateString("gpu")));
    schema::NodeBuilder node(builder);
    builder.AddOffset(field, list);
    const auto nodes = std::vector<flatbuffers::Offset<schema::Node>>(1'000'000, node.Finish());
    const auto node_list = builder.CreateVector(nodes);
    schema::FinishGraphBuffer(builder, schema::CreateGraph(builder, 1, 0, 0, node_list));
    // Quadratic time would be 10^12 steps here: hours.
    CHECK(contains(use_graph(finished_bytes(builder)), "expected a file that shares less"));
  }
}

TEST_CASE("counts over the limits are refused before their entries are visited") {
  FlatBufferBuilder builder;
  const auto nodes = builder.CreateVector(
      std::vector<flatbuffers::Offset<schema::Node>>(1000, schema::CreateNode(builder)));
  const auto edges = builder.CreateVector(
      std::vector<flatbuffers::Offset<schema::Edge>>(500, schema::CreateEdge(builder)));
  schema::FinishGraphBuffer(builder, schema::CreateGraph(builder, 1, 0, 0, nodes, edges));
  const Bytes bytes = finished_bytes(builder);
  CHECK(message_of(decode_graph(bytes, {.max_nodes = 999})) ==
        "nodes: 1000 entries, expected at most 999");
  CHECK(message_of(decode_graph(bytes, {.max_edges = 499})) ==
        "edges: 500 entries, expected at most 499");
  CHECK(decode_graph(bytes, {.max_nodes = 1000, .max_edges = 500}).ok());
}

TEST_CASE("links that share one long name are refused before they are copied") {
  FlatBufferBuilder builder;
  const auto name = builder.CreateString(std::string(4096, 'x'));
  const auto link = schema::CreateLink(builder, name, name);
  const auto links =
      builder.CreateVector(std::vector<flatbuffers::Offset<schema::Link>>(1'000'000, link));
  schema::TopologyBuilder topology(builder);
  topology.add_format_version(1);
  topology.add_links(links);
  schema::FinishTopologyBuffer(builder, topology.Finish());
  CHECK(contains(use_topology(finished_bytes(builder)), "expected a file that shares less"));
  CHECK(message_of(decode_topology(finished_bytes(builder), {.max_links = 9})) ==
        "links: 1000000 entries, expected at most 9");
}

}  // namespace placeto
