// JSON and binary: conversion loses nothing either way.
#include <doctest/doctest.h>
#include <stdlib.h>

#include <filesystem>
#include <limits>

#include "runtime/format/graph_file.h"
#include "tests/support/folder.h"
#include "tests/unit/format_support.h"
#include "tools/io/read.h"
#include "tools/io/write.h"

namespace placeto {
namespace {

namespace fs = std::filesystem;
using test::bytes_of;
using test::contains;
using test::Folder;
using test::message_of;
using test::same;

std::string golden(const std::string& name) {
  return std::string(PLACETO_SOURCE_DIR) + "/tests/golden/formats/" + name;
}

void convert(const std::string& in, const std::string& out) {
  const auto spec = read_any(in);
  REQUIRE_MESSAGE(spec.ok(), spec.status().message());
  const Status written = write_output(out, *encoded(*spec, encoding_for(out)));
  REQUIRE_MESSAGE(written.ok(), written.message());
}

// Writes a description in both forms and converts back and forth.
template <class Spec>
void check_conversion(const Folder& folder, const Spec& spec) {
  REQUIRE(write_output(folder.path("a.json"), *encoded(spec, Encoding::kJson)).ok());
  REQUIRE(write_output(folder.path("a.bin"), *encoded(spec, Encoding::kBinary)).ok());
  convert(folder.path("a.json"), folder.path("b.bin"));
  convert(folder.path("a.bin"), folder.path("b.json"));
  CHECK(bytes_of(folder.path("a.bin")) == bytes_of(folder.path("b.bin")));
  CHECK(bytes_of(folder.path("a.json")) == bytes_of(folder.path("b.json")));
  CHECK(same(std::get<Spec>(*read_any(folder.path("b.json"))), spec));
}

}  // namespace

TEST_CASE("random graphs convert between JSON and binary without loss") {
  const Folder folder;
  Random random(21);
  for (int i = 0; i < 20; ++i) check_conversion(folder, test::random_graph(random));
}

TEST_CASE("random topologies convert between JSON and binary without loss") {
  const Folder folder;
  Random random(22);
  for (int i = 0; i < 20; ++i) check_conversion(folder, test::random_topology(random));
}

TEST_CASE("random placements convert between JSON and binary without loss") {
  const Folder folder;
  Random random(23);
  for (int i = 0; i < 20; ++i) check_conversion(folder, test::random_placement(random));
}

TEST_CASE("files written by the first version stay readable, and equal in both forms") {
  const Folder folder;
  for (const std::string name : {"graph", "topology", "placement"}) {
    CAPTURE(name);
    convert(golden(name + ".json"), folder.path(name + ".bin"));
    CHECK(bytes_of(folder.path(name + ".bin")) == bytes_of(golden(name + ".bin")));
    convert(golden(name + ".bin"), folder.path(name + ".json"));
    convert(folder.path(name + ".json"), folder.path(name + ".2.bin"));
    CHECK(bytes_of(folder.path(name + ".2.bin")) == bytes_of(golden(name + ".bin")));
  }
}

TEST_CASE("the graph of the design is read with the values it states") {
  const auto graph = read_graph(golden("graph.json"));
  REQUIRE_MESSAGE(graph.ok(), graph.status().message());
  CHECK(graph->name() == "inception_v3");
  REQUIRE(graph->node_count() == 2);
  CHECK(graph->node(0).op == "Conv");
  CHECK(graph->node(0).cost_us == std::vector{123.0, 910.5});
  CHECK(graph->node(0).outputs == std::vector<uint64_t>{1204224});
  CHECK(graph->node(0).resident_bytes == 3456);
  CHECK(graph->node(1).colocate == "tower");
  CHECK(graph->node(1).allowed_kinds == std::vector<std::string>{"gpu"});
  REQUIRE(graph->edge_count() == 2);
  CHECK(graph->spec().edges[1] == EdgeSpec{0, kControlEdge, 1});
}

TEST_CASE("the topology of the design is read with the values it states") {
  const auto topology = read_topology(golden("topology.bin"));
  REQUIRE_MESSAGE(topology.ok(), topology.status().message());
  CHECK(topology->spec().op_gap_us == 5.7);
  CHECK(topology->spec().dispatch == Dispatch::kPriority);
  CHECK(topology->device(0).memory_bytes == 12000000000u);
  CHECK(topology->device(1).slowdown == 1.25);
  CHECK(topology->link(0, 1).bandwidth_bytes_per_us == 40000);
  CHECK(topology->link(1, 0).gap_us == 25);
}

TEST_CASE("JSON is one line per node and leaves defaults out") {
  GraphSpec spec;
  spec.name = "tab\t";
  spec.nodes.resize(2);
  spec.nodes[0].outputs = {1, 2};
  spec.nodes[1].cost_us = {0.1};
  spec.edges = {{0, 1, 1}};
  CHECK(*to_json(spec) ==
        "{\n"
        "  \"format_version\": 1,\n"
        "  \"name\": \"tab\\u0009\",\n"
        "  \"nodes\": [\n"
        "    { \"outputs\": [1, 2] },\n"
        "    { \"cost_us\": [0.1] }\n"
        "  ],\n"
        "  \"edges\": [\n"
        "    { \"output\": 1, \"target\": 1 }\n"
        "  ]\n"
        "}\n");
}

TEST_CASE("what JSON cannot hold is refused by place, and nothing is written") {
  const Folder folder;
  GraphSpec graph;
  graph.nodes.resize(2);
  graph.nodes[1].cost_us = {std::numeric_limits<double>::quiet_NaN()};
  const Status status = write_graph(folder.path("x.json"), graph);
  CHECK(status.message() == folder.path("x.json") +
                                ": nodes[1].cost_us[0] is nan, expected a finite number: JSON "
                                "holds nothing else");
  CHECK(status.code() == StatusCode::kInvalidArgument);
  PlacementSpec placement;
  placement.devices = {"\xff"};
  CHECK(contains(message_of(to_json(placement)), "devices[0] is '\\xff', expected UTF-8"));
  CHECK((folder.size() == 0));
}

TEST_CASE("the extension chooses the form that is written, never the form that is read") {
  CHECK(encoding_for("a.json") == Encoding::kJson);
  CHECK(encoding_for("dir/A.JSON") == Encoding::kJson);
  CHECK(encoding_for("json") == Encoding::kBinary);
  CHECK(encoding_for("a.json.plgr") == Encoding::kBinary);
  const Folder folder;
  GraphSpec spec;
  spec.nodes.resize(1);
  REQUIRE(write_output(folder.path("x.json"), *encoded(spec, Encoding::kBinary)).ok());
  REQUIRE(write_output(folder.path("x.bin"), *encoded(spec, Encoding::kJson)).ok());
  CHECK(read_graph(folder.path("x.json")).ok());
  CHECK(read_graph(folder.path("x.bin")).ok());
}

TEST_CASE("a placement with candidates says in full what did not fit") {
  PlacementSpec spec;
  spec.devices = {"cpu"};
  spec.assignment = {0};
  spec.candidates.push_back({"heft", 0, false, 0, {}});
  const Result<std::string> text = to_json(spec);
  REQUIRE(text.ok());
  CHECK(text->find("\"feasible\": false") != std::string::npos);
  CHECK(text->find("\"lower_bound_us\": 0") != std::string::npos);
}

}  // namespace placeto
