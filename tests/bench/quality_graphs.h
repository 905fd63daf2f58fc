// Random graphs with something to gain from a good placement: layered, branching and local ones.
#pragma once

#include <cstdint>

#include "runtime/base/random.h"
#include "runtime/graph/graph.h"

namespace placeto::bench {

struct QualityGraph {
  GraphSpec spec;
  double ccr;  // communication-to-computation ratio, as tools/workloads defines it
  uint32_t devices;
};

struct Sizes {
  uint32_t min_nodes, max_nodes;
};

// The index picks the family in turn. Number of nodes uniform in `sizes`, ratio log-uniform in
// [0.06, 10], 2 to 8 devices.
QualityGraph quality_graph(uint32_t index, Sizes sizes, Random& random);

}  // namespace placeto::bench
