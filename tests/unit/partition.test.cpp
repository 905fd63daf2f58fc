#include "tools/partition/partition.h"

#include <doctest/doctest.h>

#include <numeric>
#include <set>
#include <string>
#include <vector>

#include "tests/unit/report_scene.h"
#include "tools/partition/part_graph.h"

using namespace placeto;
using namespace placeto::test;

namespace {

// One contract over every partitioner of this build.
void check_contract(const Problem& problem) {
  for (const Method* method : partition_methods()) {
    INFO(method->name());
    MethodOptions options;
    const auto first = method->place(problem, options);
    REQUIRE_MESSAGE(first.ok(), first.status().message());
    CHECK(first->method == method->name());
    CHECK(first->assignment.size() == problem.node_count());
    CHECK(obeys_rules(problem, first->assignment));
    Evaluator evaluator(problem);
    CHECK(evaluator.evaluate(first->assignment) == first->score);
    const auto second = method->place(problem, options);
    REQUIRE(second.ok());
    CHECK(second->assignment == first->assignment);
  }
}

Problem problem_of(const Graph& graph, const Topology& topology, const Rules& rules = {}) {
  return Scene::built(Problem::build(graph, topology, rules));
}

}  // namespace

TEST_CASE("partitioners of this build have the names that may be asked for") {
  std::set<std::string_view> known(partition_method_names().begin(),
                                   partition_method_names().end());
  CHECK(known == std::set<std::string_view>{"scotch", "metis"});
  for (const Method* method : partition_methods()) {
    CHECK(known.erase(method->name()) == 1);
    CHECK(!method->summary().empty());
  }
}

TEST_CASE("partitioners place graphs of every size on any number of devices") {
  for (const uint32_t devices : {1u, 2u, 3u, 5u, 12u}) {
    for (const uint32_t nodes : {1u, 2u, 3u, 4u, 6u, 13u, 200u}) {
      SceneOptions options;
      options.nodes = nodes;
      options.devices = devices;
      options.seed = nodes + devices;
      const Scene scene(options);
      check_contract(scene.problem);
    }
  }
}

TEST_CASE("an output that a group reads twice is sent to it once") {
  SceneOptions options;
  options.nodes = 4;
  options.edges = false;
  GraphSpec graph = scene_graph(options);
  for (NodeSpec& node : graph.nodes) node.outputs = {1'000};
  graph.nodes[1].colocate = graph.nodes[2].colocate = "together";
  graph.edges = {{0, 0, 1}, {0, 0, 2}, {0, 0, 3}};
  const Scene scene(graph, scene_topology(options), 1);
  const PartGraph parts = build_part_graph(scene.problem);
  REQUIRE(parts.edge_weight.size() == 4);
  for (const int32_t weight : parts.edge_weight) CHECK(weight == parts.edge_weight[0]);
}

TEST_CASE("partitioners place graphs without edges and without costs") {
  SceneOptions options;
  options.edges = false;
  options.devices = 4;
  check_contract(Scene(options).problem);
  GraphSpec idle = scene_graph(options);
  for (NodeSpec& node : idle.nodes) node.cost_us = {0};
  const Scene scene(idle, scene_topology(options), 1);
  check_contract(scene.problem);
}

TEST_CASE("partitioners place on devices beside which others count for nothing") {
  SceneOptions options;
  options.devices = 3;
  TopologySpec topology = scene_topology(options);
  topology.devices[1].slowdown = 1e-30;
  topology.devices[2].slowdown = 1e30;
  check_contract(Scene(scene_graph(options), topology, 1).problem);
}

TEST_CASE("partitioners keep groups together and obey kinds, pins and forbids") {
  SceneOptions options;
  options.devices = 4;
  GraphSpec graph = scene_graph(options);
  TopologySpec topology = scene_topology(options);
  topology.devices[3].kind = "cpu";
  graph.nodes[1].colocate = graph.nodes[40].colocate = graph.nodes[59].colocate = "together";
  for (uint32_t v = 5; v < 30; ++v) graph.nodes[v].allowed_kinds = {"cpu"};
  const Scene scene(graph, topology, 1);
  Rules rules;
  rules.pins = {{0, 2}, {59, 1}};
  rules.forbids = {{2, 0}, {3, 1}};
  rules.colocate = {{10, 11}, {50, 51, 52}};
  const Problem problem = problem_of(scene.graph, scene.topology, rules);
  check_contract(problem);
  for (const Method* method : partition_methods()) {
    const auto candidate = method->place(problem, {});
    REQUIRE(candidate.ok());
    CHECK(candidate->assignment[40] == 1);
    CHECK(candidate->assignment[5] == 3);
  }
}

TEST_CASE("partitioners move groups off a device that is too small") {
  SceneOptions options;
  options.devices = 3;
  GraphSpec graph = scene_graph(options);
  for (NodeSpec& node : graph.nodes) node.resident_bytes = 1'000'000;
  TopologySpec topology = scene_topology(options);
  topology.devices[0].memory_bytes = 6'000'000;  // of the 20 million that balance would put there
  const Scene scene(graph, topology, 1);
  check_contract(scene.problem);
  for (const Method* method : partition_methods()) {
    const auto candidate = method->place(scene.problem, {});
    REQUIRE(candidate.ok());
    CHECK(candidate->score.feasible());
  }
}

TEST_CASE("partitioners end when they are told to, whatever their libraries are doing") {
  SceneOptions options;
  options.nodes = 30'000;  // a tenth of a second at the least
  const Scene scene(options);
  for (const Method* method : partition_methods()) {
    int looks = 0;
    Stop stop([](void* seen) { return ++*static_cast<int*>(seen) > 2; }, &looks);
    MethodOptions method_options;
    method_options.stop = &stop;
    const auto placed = method->place(scene.problem, method_options);
    CHECK(placed.status().code() == StatusCode::kStopped);
    CHECK(looks == 3);
  }
}

TEST_CASE("partitioners say so when nothing fits") {
  SceneOptions options;
  options.memory_bytes = 10'000;
  const Scene scene(options);
  for (const Method* method : partition_methods()) {
    const auto candidate = method->place(scene.problem, {});
    REQUIRE(candidate.ok());
    CHECK(!candidate->score.feasible());
  }
}

// Two cliques of four with one thin edge between them: no partitioner should cut a clique.
TEST_CASE("partitioners cut where little is sent") {
  GraphSpec graph;
  for (uint32_t v = 0; v < 8; ++v) {
    NodeSpec node;
    node.name = std::to_string(v);
    node.cost_us = {100};
    node.outputs = {v == 3 ? 1u : 1'000'000u, 1'000'000};
    graph.nodes.push_back(node);
    for (uint32_t u = v / 4 * 4; u < v; ++u) graph.edges.push_back({u, 1, v});
  }
  graph.edges.push_back({3, 0, 4});
  SceneOptions options;
  options.devices = 2;
  const Scene scene(graph, scene_topology(options), 1);
  for (const Method* method : partition_methods()) {
    const auto candidate = method->place(scene.problem, {});
    REQUIRE(candidate.ok());
    const Assignment& a = candidate->assignment;
    for (uint32_t v = 1; v < 4; ++v) {
      CHECK(a[v] == a[0]);
      CHECK(a[4 + v] == a[4]);
    }
    CHECK(a[0] != a[4]);
  }
}

TEST_CASE("devices get work by their speed, and those that can run nothing get none") {
  SceneOptions options;
  options.devices = 3;
  options.nodes = 400;
  GraphSpec graph = scene_graph(options);
  graph.kinds = {"gpu"};
  TopologySpec topology = scene_topology(options);
  topology.devices[1].slowdown = 4;
  topology.devices[2].kind = "npu";
  const Scene scene(Scene::built(Graph::build(graph)).spec(), topology, 1);
  const PartGraph parts = build_part_graph(scene.problem);
  CHECK(parts.devices == std::vector<uint32_t>{0, 1});
  CHECK(parts.share[0] == doctest::Approx(0.8));
  CHECK(parts.share[1] == doctest::Approx(0.2));
  check_contract(scene.problem);
}

TEST_CASE("the partitioners' graph is symmetric, without loops, and its weights fit 32 bits") {
  SceneOptions options;
  options.nodes = 150;
  GraphSpec spec = scene_graph(options);
  spec.nodes[3].colocate = spec.nodes[90].colocate = "x";
  spec.nodes[7].cost_us = {1e12};
  const Scene scene(spec, scene_topology(options), 1);
  const PartGraph parts = build_part_graph(scene.problem);
  CHECK(parts.vertex_count() == static_cast<int32_t>(scene.problem.group_count()));
  std::set<std::vector<int32_t>> edges;
  for (int32_t v = 0; v < parts.vertex_count(); ++v) {
    for (int32_t i = parts.offset[static_cast<size_t>(v)];
         i < parts.offset[static_cast<size_t>(v) + 1]; ++i) {
      const auto at = static_cast<size_t>(i);
      CHECK(parts.neighbour[at] != v);
      CHECK(parts.edge_weight[at] >= 1);
      CHECK(edges.insert({v, parts.neighbour[at], parts.edge_weight[at]}).second);
    }
  }
  for (const auto& e : edges) CHECK(edges.count({e[1], e[0], e[2]}) == 1);
  const int64_t sum =
      std::accumulate(parts.vertex_weight.begin(), parts.vertex_weight.end(), int64_t{0});
  CHECK(sum <= 100'000'000 + parts.vertex_count());
}
