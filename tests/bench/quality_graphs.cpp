#include "tests/bench/quality_graphs.h"

#include <algorithm>

#include "tools/workloads/random_graphs.h"

namespace placeto::bench {
namespace {

void sort_unique(std::vector<Dag::Edge>& edges) {
  std::sort(edges.begin(), edges.end());
  edges.erase(std::unique(edges.begin(), edges.end()), edges.end());
}

// Every node reads a random earlier one, every fourth another one too: wide and shallow.
Dag branching_dag(uint32_t nodes, Random& random) {
  Dag dag{nodes, {}};
  for (uint32_t v = 1; v < nodes; ++v) {
    dag.edges.push_back({random.below(v), v});
    if (random.below(4) == 0) dag.edges.push_back({random.below(v), v});
  }
  sort_unique(dag.edges);
  return dag;
}

// Every node reads one to three of the last few nodes: narrow and deep.
Dag local_dag(uint32_t nodes, Random& random) {
  const uint32_t window = 5 + random.below(25);
  Dag dag{nodes, {}};
  for (uint32_t v = 1; v < nodes; ++v) {
    const uint32_t reach = std::min(window, v);
    for (uint32_t p = 1 + random.below(3); p > 0; --p) {
      dag.edges.push_back({v - 1 - random.below(reach), v});
    }
  }
  sort_unique(dag.edges);
  return dag;
}

// From 2 to about the square root of the number of nodes side by side.
Dag any_width_layered_dag(uint32_t nodes, Random& random) {
  uint32_t root = 2;
  while ((root + 1) * (root + 1) <= nodes) ++root;
  return layered_dag(nodes, 2 + random.below(root), random);
}

// One of 65 ratios in geometric progression: products, no powers, so that the C library has no say
// in which graphs are measured.
double draw_ratio(Random& random) {
  constexpr double kMin = 0.06, kStep = 1.0832;  // kMin x kStep^64 = 10
  double ratio = kMin;
  for (uint32_t steps = random.below(65); steps > 0; --steps) ratio *= kStep;
  return ratio;
}

}  // namespace

QualityGraph quality_graph(uint32_t index, Sizes sizes, Random& random) {
  const uint32_t nodes = sizes.min_nodes + random.below(sizes.max_nodes - sizes.min_nodes + 1);
  const double ccr = draw_ratio(random);
  const uint32_t devices = 2 + random.below(7);
  Random own = random.split();
  switch (index % 3) {
    case 0:
      return {weigh("layered", any_width_layered_dag(nodes, own), ccr, own), ccr, devices};
    case 1:
      return {weigh("branching", branching_dag(nodes, own), ccr, own), ccr, devices};
    default:
      return {weigh("local", local_dag(nodes, own), ccr, own), ccr, devices};
  }
}

}  // namespace placeto::bench
