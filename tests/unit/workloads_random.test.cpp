#include <algorithm>
#include <cmath>

#include "tests/unit/workloads_support.h"
#include "tools/workloads/random_graphs.h"
#include "tools/workloads/workload.h"

namespace placeto {
namespace {

constexpr const char* kFamilies[] = {"layered", "series_parallel", "fork_join", "erdos"};

// The definition in workload.h.
double measured_ccr(const GraphSpec& graph) {
  double transfer = 0, run = 0;
  for (const EdgeSpec& edge : graph.edges) {
    transfer += static_cast<double>(graph.nodes[edge.source].outputs[edge.output]) /
                kReferenceBandwidth / static_cast<double>(graph.edges.size());
  }
  for (const NodeSpec& node : graph.nodes) {
    run += node.cost_us[0] / static_cast<double>(graph.nodes.size());
  }
  return transfer / run;
}

TEST_CASE("random families have exactly the number of nodes asked for") {
  for (const char* family : kFamilies) {
    for (uint32_t nodes : {1u, 2u, 3u, 4u, 5u, 17u, 100u, 1'000u, 20'000u}) {
      CAPTURE(family);
      CAPTURE(nodes);
      WorkloadOptions options;
      options.nodes = nodes;
      options.seed = nodes;
      const Result<Graph> graph = Graph::build(generated(family, options));
      INFO(graph.status().message());
      REQUIRE(graph.ok());
      CHECK(graph->node_count() == nodes);
    }
  }
}

TEST_CASE("random families honour the communication-to-computation ratio") {
  for (const char* family : kFamilies) {
    for (double ccr : {0.01, 0.1, 1.0, 10.0, 1000.0}) {
      CAPTURE(family);
      CAPTURE(ccr);
      WorkloadOptions options;
      options.nodes = 500;
      options.ccr = ccr;
      CHECK(measured_ccr(generated(family, options)) == doctest::Approx(ccr).epsilon(0.001));
    }
  }
}

TEST_CASE("run times are positive, unlike each other, and 200 us on average") {
  WorkloadOptions options;
  options.nodes = 20'000;
  const GraphSpec graph = generated("erdos", options);
  double sum = 0, squares = 0;
  for (const NodeSpec& node : graph.nodes) {
    REQUIRE(node.cost_us[0] > 0);
    sum += node.cost_us[0];
    squares += node.cost_us[0] * node.cost_us[0];
  }
  const double mean = sum / options.nodes;
  CHECK(mean == doctest::Approx(200).epsilon(0.05));
  CHECK(std::sqrt(squares / options.nodes - mean * mean) / mean ==
        doctest::Approx(0.99).epsilon(0.15));
}

TEST_CASE("nodes are numbered in topological order") {
  for (const char* family : kFamilies) {
    for (const EdgeSpec& edge : generated(family).edges) CHECK(edge.source < edge.target);
  }
}

TEST_CASE("series-parallel and fork-join graphs have one source and one sink") {
  for (const char* family : {"series_parallel", "fork_join"}) {
    for (uint64_t seed = 0; seed < 20; ++seed) {
      WorkloadOptions options;
      options.seed = seed;
      const Result<Graph> graph = Graph::build(generated(family, options));
      REQUIRE(graph.ok());
      int sources = 0, sinks = 0;
      for (uint32_t v = 0; v < graph->node_count(); ++v) {
        sources += graph->in_edges(v).empty() ? 1 : 0;
        sinks += graph->out_edges(v).empty() ? 1 : 0;
      }
      CHECK(sources == 1);
      CHECK(sinks == 1);
    }
  }
}

// Series and parallel reductions undo the construction: a series-parallel graph shrinks to one
// edge, and nothing else does (Valdes, Tarjan and Lawler 1982).
TEST_CASE("series-parallel graphs reduce to a single edge") {
  Random random(3);
  const Dag dag = series_parallel_dag(60, random);
  std::vector<Dag::Edge> edges = dag.edges;
  bool reduced = true;
  while (reduced) {
    reduced = false;
    for (uint32_t v = 1; v + 1 < dag.nodes; ++v) {
      std::vector<size_t> in, out;
      for (size_t e = 0; e < edges.size(); ++e) {
        if (edges[e].target == v) in.push_back(e);
        if (edges[e].source == v) out.push_back(e);
      }
      if (in.size() != 1 || out.size() != 1) continue;
      edges[in[0]].target = edges[out[0]].target;
      edges.erase(edges.begin() + static_cast<std::ptrdiff_t>(out[0]));
      std::sort(edges.begin(), edges.end());
      edges.erase(std::unique(edges.begin(), edges.end()), edges.end());
      reduced = true;
    }
  }
  CHECK(edges == std::vector<Dag::Edge>{{0, 59}});
}

TEST_CASE("a wider layered graph is shallower") {
  const auto depth = [](uint32_t width) {
    WorkloadOptions options;
    options.nodes = 1'000;
    options.width = width;
    const GraphSpec graph = generated("layered", options);
    std::vector<int> level(graph.nodes.size(), 1);
    for (const EdgeSpec& e : graph.edges) {  // sorted by source, sources before targets
      level[e.target] = std::max(level[e.target], level[e.source] + 1);
    }
    return *std::max_element(level.begin(), level.end());
  };
  CHECK(depth(4) > 2 * depth(16));
  CHECK(depth(16) > 2 * depth(64));
}

TEST_CASE("a random graph of pairs has the mean degree asked for") {
  for (uint32_t degree : {1u, 3u, 8u}) {
    WorkloadOptions options;
    options.nodes = 1'000;
    options.degree = degree;
    CHECK(generated("erdos", options).edges.size() == 1'000 * degree);
  }
}

}  // namespace
}  // namespace placeto
