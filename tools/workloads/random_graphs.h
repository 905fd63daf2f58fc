// Random families: the shape of a directed acyclic graph, then run times and bytes for it.
#pragma once

#include <compare>
#include <string>
#include <vector>

#include "runtime/base/random.h"
#include "tools/workloads/workload.h"

namespace placeto {

// Nodes are numbered so that every edge goes from a lower to a higher number; edges are distinct,
// sorted by source, then target.
struct Dag {
  struct Edge {
    uint32_t source, target;
    friend auto operator<=>(const Edge&, const Edge&) = default;
  };
  uint32_t nodes;
  std::vector<Edge> edges;
};

// Layers of 1 to 2 width - 1 nodes, each reading one to three nodes, mostly of the layer before.
Dag layered_dag(uint32_t nodes, uint32_t width, Random& random);
// Two-terminal series-parallel: starts as one edge, then subdivides random edges or adds a
// two-edge path beside them, equally often.
Dag series_parallel_dag(uint32_t nodes, Random& random);
// A chain of blocks; a block forks into 2 to 2 width - 2 chains of one to four nodes that join.
Dag fork_join_dag(uint32_t nodes, uint32_t width, Random& random);
// Erdos and Renyi's G(n, m) with m = nodes x degree (at most half of all pairs), each pair
// directed from the lower number to the higher. May have isolated nodes.
Dag erdos_dag(uint32_t nodes, uint32_t degree, Random& random);

// One cost_us of mean 200 and one output for each node, both with a heavy tail (a product of six
// uniform factors, coefficient of variation about 1), the outputs scaled so that the graph's ratio
// of communication to computation is `ccr` but for rounding to whole bytes.
GraphSpec weigh(std::string name, Dag dag, double ccr, Random& random);

Result<GraphSpec> build_layered(const WorkloadOptions& options);
Result<GraphSpec> build_series_parallel(const WorkloadOptions& options);
Result<GraphSpec> build_fork_join(const WorkloadOptions& options);
Result<GraphSpec> build_erdos(const WorkloadOptions& options);

}  // namespace placeto
