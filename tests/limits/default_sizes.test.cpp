// The defaults of the largest limits at full size: seconds and gigabytes, so not part of the suite.
#include <doctest/doctest.h>

#include "runtime/graph/graph.h"
#include "runtime/graph/topology.h"

namespace placeto {
namespace {

GraphSpec graph_of(uint32_t nodes, uint32_t outputs_of_first, uint32_t edges) {
  GraphSpec graph;
  graph.nodes.resize(nodes);
  for (NodeSpec& node : graph.nodes) node.cost_us = {1};
  graph.nodes[0].outputs.assign(outputs_of_first, 1);
  for (uint32_t e = 0; e < edges; ++e) graph.edges.push_back({0, e, 1});
  return graph;
}

}  // namespace

TEST_CASE("2,000,000 nodes are taken, one more is refused") {
  CHECK(Graph::build(graph_of(2'000'000, 0, 0)).ok());
  CHECK(!Graph::build(graph_of(2'000'001, 0, 0)).ok());
}

TEST_CASE("20,000,000 edges and outputs are taken, one more of either is refused") {
  CHECK(Graph::build(graph_of(2, 20'000'000, 20'000'000)).ok());
  CHECK(!Graph::build(graph_of(2, 20'000'001, 0)).ok());
  GraphSpec graph = graph_of(2, 20'000'000, 20'000'000);
  graph.edges.push_back({0, kControlEdge, 1});
  CHECK(!Graph::build(std::move(graph)).ok());
}

TEST_CASE("a link between every two of 1,024 devices is taken; that is all there can be") {
  TopologySpec topology;
  topology.name = "t";
  topology.default_link = {1000, 0, 0};
  for (uint32_t d = 0; d < 1024; ++d) {
    topology.devices.emplace_back();
    topology.devices.back().name = "d" + std::to_string(d);
    topology.devices.back().kind = "k";
  }
  for (uint32_t a = 0; a < 1024; ++a) {
    for (uint32_t b = 0; b < 1024; ++b) {
      if (a == b) continue;
      topology.links.push_back(
          {topology.devices[a].name, topology.devices[b].name, {1000, 0, 0}, ""});
    }
  }
  CHECK(Topology::build(topology).ok());
}

}  // namespace placeto
