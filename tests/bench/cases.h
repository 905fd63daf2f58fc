// What is measured: random graphs on equal devices with the paper's cost parameters.
#pragma once

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "runtime/base/random.h"
#include "runtime/cost/problem.h"

namespace placeto::bench {

// The value, or the end of the program with the message: benchmarks have nothing to recover.
template <class T>
T require(Result<T> result) {
  if (!result.ok()) {
    std::fprintf(stderr, "%s\n", result.status().message().c_str());
    std::exit(4);
  }
  return std::move(result).value();
}

// Devices that run every node equally fast, without a memory limit, with the link, gap and operator
// gap of models/topologies/2xk80.json.
TopologySpec k80_devices(uint32_t count);

// A layered graph of tools/workloads, communication-to-computation ratio 1.
GraphSpec layered_graph(uint32_t nodes, uint64_t seed = 1);

// A problem with all it refers to. Stays where it is: the problem points into it.
struct Case {
  Case(GraphSpec graph_spec, TopologySpec topology_spec)
      : graph(require(Graph::build(std::move(graph_spec)))),
        topology(require(Topology::build(std::move(topology_spec)))),
        problem(require(Problem::build(graph, topology))) {}
  Case(uint32_t nodes, uint32_t devices) : Case(layered_graph(nodes), k80_devices(devices)) {}
  Case(const Case&) = delete;
  Case& operator=(const Case&) = delete;

  Graph graph;
  Topology topology;
  Problem problem;
};

Assignment random_placement(const Problem& problem, Random& random);

// Many different ones: simulating one placement again and again flatters the branch predictor.
std::vector<Assignment> random_placements(const Problem& problem, uint64_t seed);

}  // namespace placeto::bench
