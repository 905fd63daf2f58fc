#include "runtime/graph/graph.h"

#include <doctest/doctest.h>

#include <limits>

#include "tests/unit/format_support.h"

namespace placeto {
namespace {

using test::message_of;

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

// a -> b -> c, one output each but the last.
GraphSpec chain() {
  GraphSpec spec;
  spec.nodes.resize(3);
  for (size_t v = 0; v < 3; ++v) spec.nodes[v].name = std::string(1, static_cast<char>('a' + v));
  spec.nodes[0].outputs = {8};
  spec.nodes[1].outputs = {8};
  spec.edges = {{0, 0, 1}, {1, 0, 2}};
  return spec;
}

template <class Change>
std::string graph_after(Change change, const Limits& limits = {}) {
  GraphSpec spec = chain();
  change(spec);
  return message_of(Graph::build(std::move(spec), limits));
}

}  // namespace

TEST_CASE("a graph is laid out in the order its edges were given") {
  //   0 --> 2      output 0 of node 0 goes to 2 and 1, output 1 to 2
  //   0 --> 1
  GraphSpec spec;
  spec.nodes.resize(3);
  spec.nodes[0].outputs = {10, 20};
  spec.edges = {{0, 1, 2}, {0, 0, 2}, {0, 0, 1}, {1, kControlEdge, 2}};
  const Result<Graph> graph = Graph::build(spec);
  REQUIRE(graph.ok());
  REQUIRE(graph->out_edges(0).size() == 3);
  CHECK(graph->out_edges(0)[0].target == 2);
  CHECK(graph->out_edges(0)[0].output == 1);
  CHECK(graph->out_edges(0)[2].target == 1);
  CHECK(graph->in_edges(2).size() == 3);
  CHECK(graph->in_edges(2)[2].output == kControlEdge);
  REQUIRE(graph->consumers(0).size() == 2);
  CHECK(graph->consumers(0)[0] == 1);
  CHECK(graph->producer(1) == 0);
  CHECK(graph->output_bytes(1) == 20);
}

TEST_CASE("outputs that nobody reads are work, where a node has many of them") {
  GraphSpec spec;
  spec.nodes.resize(3);
  for (NodeSpec& node : spec.nodes) node.outputs = {1};
  spec.edges = {{0, 0, 1}, {0, 0, 2}};
  const Graph plain = *Graph::build(spec);
  CHECK(plain.size() == 5);
  CHECK(plain.out_work(0) == 3);
  spec.nodes[0].outputs.resize(1'000, 1);
  const Graph wide = *Graph::build(spec);
  CHECK(wide.size() == 5 + 998);
  CHECK(wide.out_work(0) == 1'001);
}

TEST_CASE("the topological order takes the lowest ready node first") {
  GraphSpec spec;
  spec.nodes.resize(4);
  spec.edges = {{3, kControlEdge, 0}, {2, kControlEdge, 1}};
  const Result<Graph> graph = Graph::build(spec);
  REQUIRE(graph.ok());
  const auto order = graph->topological_order();
  CHECK(std::vector<uint32_t>(order.begin(), order.end()) == std::vector<uint32_t>{2, 1, 3, 0});
}

TEST_CASE("a cycle is refused and printed, along the edges and without the nodes that lead to it") {
  // 0 -> 1 -> 2 -> 1: node 0 is not on the cycle
  CHECK(graph_after([](GraphSpec& g) {
          g.nodes[2].outputs = {8};
          g.edges.push_back({2, 0, 1});
        }) ==
        "edges: the graph has a cycle: nodes[1] 'b' -> nodes[2] 'c' -> nodes[1] 'b'; expected an "
        "acyclic graph");
}

TEST_CASE("a node that depends on itself is a cycle") {
  CHECK(graph_after([](GraphSpec& g) {
          g.edges.push_back({1, kControlEdge, 1});
        }) ==
        "edges: the graph has a cycle: nodes[1] 'b' -> nodes[1] 'b'; expected an acyclic graph");
}

TEST_CASE("a long cycle is printed in part") {
  GraphSpec spec;
  spec.nodes.resize(1000);
  for (uint32_t v = 0; v < 1000; ++v) spec.edges.push_back({v, kControlEdge, (v + 1) % 1000});
  const std::string message = message_of(Graph::build(spec));
  CHECK(test::contains(message, "... (1000 nodes) -> nodes["));
  CHECK(message.size() < 600);
}

TEST_CASE("a chain of a million nodes builds, and so does the cycle made of it get printed") {
  GraphSpec spec;
  spec.nodes.resize(1'000'000);
  for (uint32_t v = 0; v + 1 < 1'000'000; ++v) spec.edges.push_back({v, kControlEdge, v + 1});
  CHECK(Graph::build(spec).ok());
  spec.edges.push_back({999'999, kControlEdge, 0});
  CHECK(test::contains(message_of(Graph::build(std::move(spec))), "(1000000 nodes)"));
}

TEST_CASE("indices out of range are refused by place") {
  CHECK(graph_after([](GraphSpec& g) { g.edges[1].source = 3; }) ==
        "edges[1]: source is 3, expected a node index below 3");
  CHECK(graph_after([](GraphSpec& g) { g.edges[0].target = 4'000'000'000u; }) ==
        "edges[0]: target is 4000000000, expected a node index below 3");
  CHECK(graph_after([](GraphSpec& g) { g.edges[1].output = 1; }) ==
        "edges[1]: output is 1, but nodes[1] 'b' has 1 output, expected an index below that or "
        "4294967295 (control)");
}

TEST_CASE("two equal edges are refused, and both are named") {
  CHECK(graph_after([](GraphSpec& g) {
          g.edges.push_back({0, 0, 1});
        }) ==
        "edges[2]: source 0, output 0, target 1 stands at edges[0] already, expected distinct "
        "edges");
  CHECK(graph_after([](GraphSpec& g) {
          g.edges.push_back({0, kControlEdge, 2});
          g.edges.push_back({0, kControlEdge, 2});
        }) ==
        "edges[3]: source 0, output 4294967295, target 2 stands at edges[2] already, expected "
        "distinct edges");
}

TEST_CASE("edges that differ in their output only are distinct") {
  CHECK(graph_after([](GraphSpec& g) {
          g.nodes[0].outputs = {8, 8};
          g.edges.push_back({0, 1, 1});
          g.edges.push_back({0, kControlEdge, 1});
        }) == "ok");
}

TEST_CASE("costs must be finite and may be negative") {
  const std::string expected =
      ", expected a finite number of microseconds (negative: the kind cannot run the node)";
  CHECK(graph_after([](GraphSpec& g) { g.nodes[1].cost_us = {kNan}; }) ==
        "nodes[1] 'b': cost_us[0] is nan" + expected);
  CHECK(graph_after([](GraphSpec& g) {
          g.kinds = {"cpu", "gpu"};
          g.nodes[2].cost_us = {1, kInfinity};
        }) == "nodes[2] 'c': cost_us[1] is infinity" + expected);
  CHECK(graph_after([](GraphSpec& g) { g.nodes[1].cost_us = {-kInfinity}; }) ==
        "nodes[1] 'b': cost_us[0] is -infinity" + expected);
  CHECK(graph_after([](GraphSpec& g) { g.nodes[1].cost_us = {-1}; }) == "ok");
}

TEST_CASE("a node has one cost for each kind, or none") {
  CHECK(graph_after([](GraphSpec& g) {
          g.nodes[0].cost_us = {1, 2};
        }) == "nodes[0] 'a': cost_us has 2 entries, expected 1 because the graph lists no kinds");
  CHECK(graph_after([](GraphSpec& g) {
          g.kinds = {"cpu", "gpu"};
          g.nodes[0].cost_us = {1};
        }) == "nodes[0] 'a': cost_us has 1 entries, expected 2, one for each of the graph's kinds");
}

TEST_CASE("byte sums must fit 63 bits") {
  const std::string overflow =
      "resident, workspace and output bytes of the nodes up to here sum to more than 2^63 - 1, "
      "expected a smaller sum";
  CHECK(graph_after([](GraphSpec& g) { g.nodes[0].resident_bytes = uint64_t{1} << 63; }) ==
        "nodes[0] 'a': " + overflow);
  CHECK(graph_after([](GraphSpec& g) {
          g.nodes[0].outputs = {(uint64_t{1} << 62)};
          g.nodes[1].workspace_bytes = uint64_t{1} << 62;
        }) == "nodes[1] 'b': " + overflow);
  CHECK(graph_after([](GraphSpec& g) {
          g.nodes[2].outputs = {~uint64_t{0}, ~uint64_t{0}};
        }) == "nodes[2] 'c': " + overflow);
  CHECK(graph_after([](GraphSpec& g) {
          g.nodes[0].outputs = {0};
          g.nodes[1].outputs = {(uint64_t{1} << 63) - 1};
        }) == "ok");
}

TEST_CASE("kinds must have names, all different") {
  CHECK(graph_after([](GraphSpec& g) {
          g.kinds = {"gpu", ""};
        }) == "kinds[1]: is empty, expected a name");
  CHECK(graph_after([](GraphSpec& g) {
          g.kinds = {"gpu", "cpu", "gpu"};
        }) == "kinds[2]: 'gpu' stands at kinds[0] already, expected distinct kinds");
  CHECK(graph_after([](GraphSpec& g) {
          g.nodes[1].allowed_kinds = {"gpu", ""};
        }) == "nodes[1] 'b': allowed_kinds[1]: is empty, expected a name");
}

TEST_CASE("names must be UTF-8 without NUL, and messages show any bytes safely") {
  CHECK(graph_after([](GraphSpec& g) { g.nodes[1].name = "a\xff\n"; }) ==
        "nodes[1] 'a\\xff\\x0a': name: is 'a\\xff\\x0a', expected valid UTF-8");
  CHECK(graph_after([](GraphSpec& g) { g.nodes[1].op = std::string("a\0b", 3); }) ==
        "nodes[1] 'b': op: is 'a\\x00b', expected text without NUL characters");
  CHECK(graph_after([](GraphSpec& g) { g.name = "\xc0\x80"; }) ==
        "name: is '\\xc0\\x80', expected valid UTF-8");
  CHECK(graph_after([](GraphSpec& g) {
          g.nodes[1].input_types = {"", "\xff"};
        }) == "nodes[1] 'b': input_types[1]: is '\\xff', expected valid UTF-8");
  // Surrogates, above U+10FFFF, overlong, cut short.
  for (const char* text : {"\xed\xa0\x80", "\xf4\x90\x80\x80", "\xe0\x80\x80", "\xf0\x80\x80\x80",
                           "\xe2\x82", "\xf0\x9f\x98", "\x80"}) {
    CHECK(test::contains(graph_after([text](GraphSpec& g) { g.nodes[0].colocate = text; }),
                         "colocate: is '\\x"));
  }
  CHECK(graph_after([](GraphSpec& g) {
          g.name = "\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80\xf4\x8f\xbf\xbf";
        }) == "ok");
}

TEST_CASE("sizes over the limits are refused") {
  CHECK(graph_after([](GraphSpec& g) { g.nodes.clear(); }) ==
        "nodes: empty, expected at least one node");
  CHECK(graph_after([](GraphSpec&) {}, {.max_nodes = 2}) == "nodes: 3 entries, expected at most 2");
  CHECK(graph_after([](GraphSpec&) {}, {.max_edges = 1}) == "edges: 2 entries, expected at most 1");
  CHECK(graph_after([](GraphSpec&) {}, {.max_outputs = 1}) ==
        "outputs: 2 entries, expected at most 1");
  CHECK(graph_after(
            [](GraphSpec& g) {
              g.kinds = {"a", "b"};
            },
            {.max_kinds = 1}) == "kinds: 2 entries, expected at most 1");
  CHECK(graph_after(
            [](GraphSpec& g) {
              g.nodes[0].allowed_kinds = {"a", "b"};
            },
            {.max_kinds = 1}) == "nodes[0] 'a': allowed_kinds: 2 entries, expected at most 1");
  CHECK(graph_after([](GraphSpec& g) { g.nodes[0].input_types.resize(4096); }) == "ok");
  CHECK(graph_after([](GraphSpec& g) { g.nodes[0].input_types.resize(4097); }) ==
        "nodes[0] 'a': input_types: 4097 entries, expected at most 4096");
  CHECK(graph_after([](GraphSpec& g) { g.nodes[2].op = "four"; }, {.max_name_bytes = 3}) ==
        "nodes[2] 'c': op: is 4 bytes long, expected at most 3");
}

TEST_CASE("long names are cut in messages at a character's end") {
  GraphSpec spec;
  spec.nodes.resize(1);
  for (int i = 0; i < 40; ++i) spec.nodes[0].name += "\xc3\xa9";
  spec.nodes[0].cost_us = {kNan};
  const std::string message = message_of(Graph::build(spec));
  CHECK(test::contains(message, "\xc3\xa9...': cost_us[0]"));
  CHECK(message.find("\xc3\xa9...") == std::string("nodes[0] '").size() + 62);
}

}  // namespace placeto
