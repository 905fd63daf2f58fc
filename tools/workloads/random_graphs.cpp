#include "tools/workloads/random_graphs.h"

#include <algorithm>

namespace placeto {
namespace {

void sort_unique(std::vector<Dag::Edge>& edges) {
  std::sort(edges.begin(), edges.end());
  edges.erase(std::unique(edges.begin(), edges.end()), edges.end());
}

// Renumbers nodes in topological order (Kahn's algorithm, first in, first out).
void number_topologically(Dag& dag) {
  std::vector<uint32_t> offset(dag.nodes + 1, 0), unmet(dag.nodes, 0), order, rank(dag.nodes);
  sort_unique(dag.edges);
  for (const Dag::Edge& e : dag.edges) {
    ++offset[e.source + 1];
    ++unmet[e.target];
  }
  for (uint32_t v = 0; v < dag.nodes; ++v) {
    offset[v + 1] += offset[v];
    if (unmet[v] == 0) order.push_back(v);
  }
  for (size_t i = 0; i < order.size(); ++i) {
    rank[order[i]] = static_cast<uint32_t>(i);
    for (uint32_t e = offset[order[i]]; e < offset[order[i] + 1]; ++e) {
      if (--unmet[dag.edges[e].target] == 0) order.push_back(dag.edges[e].target);
    }
  }
  for (Dag::Edge& e : dag.edges) e = {rank[e.source], rank[e.target]};
  sort_unique(dag.edges);
}

// Positive, mean 1, close to log-normal by the central limit theorem of its logarithm, and made of
// exactly rounded operations only, so that it is the same number on every machine.
double draw_weight(Random& random) {
  double weight = 1;
  for (int i = 0; i < 6; ++i) weight *= 0.4 + 1.2 * random.uniform();
  return weight;
}

}  // namespace

Dag layered_dag(uint32_t nodes, uint32_t width, Random& random) {
  constexpr uint32_t kMaxParents = 3, kReach = 4;  // layers that an edge may span
  Dag dag{nodes, {}};
  std::vector<uint32_t> begin = {0};  // first node of each layer, and the end
  while (begin.back() < nodes) {
    begin.push_back(begin.back() + std::min(1 + random.below(2 * width - 1), nodes - begin.back()));
  }
  std::vector<bool> has_child(nodes, false);
  for (size_t layer = 1; layer + 1 < begin.size(); ++layer) {
    const uint32_t near = begin[layer - 1], far = begin[layer > kReach ? layer - kReach : 0];
    for (uint32_t v = begin[layer]; v < begin[layer + 1]; ++v) {
      for (uint32_t p = 1 + random.below(kMaxParents); p > 0; --p) {
        const uint32_t first = random.below(4) == 0 ? far : near;
        const uint32_t parent = first + random.below(begin[layer] - first);
        has_child[parent] = true;
        dag.edges.push_back({parent, v});
      }
    }
    for (uint32_t v = near; v < begin[layer]; ++v) {
      if (has_child[v]) continue;
      dag.edges.push_back({v, begin[layer] + random.below(begin[layer + 1] - begin[layer])});
    }
  }
  sort_unique(dag.edges);
  return dag;
}

Dag series_parallel_dag(uint32_t nodes, Random& random) {
  Dag dag{nodes, {}};
  if (nodes >= 2) dag.edges.push_back({0, 1});
  for (uint32_t v = 2; v < nodes; ++v) {
    Dag::Edge& edge = dag.edges[random.below(static_cast<uint32_t>(dag.edges.size()))];
    const Dag::Edge old = edge;
    if (random.below(2) == 0) {
      edge = {old.source, v};  // subdivide; else leave the edge and add a path beside it
    } else {
      dag.edges.push_back({old.source, v});
    }
    dag.edges.push_back({v, old.target});
  }
  number_topologically(dag);
  return dag;
}

Dag fork_join_dag(uint32_t nodes, uint32_t width, Random& random) {
  constexpr uint32_t kMaxChain = 4;
  Dag dag{nodes, {}};
  uint32_t fork = 0, next = 1;
  while (next < nodes) {
    if (nodes - next < 3) {  // too few for two chains and a join
      dag.edges.push_back({fork, next});
      fork = next++;
      continue;
    }
    const uint32_t last = nodes - 1;  // the join at the latest
    const uint32_t chains = std::min(2 + random.below(2 * width - 3), last - next);
    std::vector<uint32_t> ends;
    for (uint32_t c = 0; c < chains; ++c) {
      const uint32_t left = last - next - (chains - c - 1);  // one node for each chain to come
      const uint32_t length = std::min(1 + random.below(kMaxChain), left);
      dag.edges.push_back({fork, next});
      for (uint32_t i = 1; i < length; ++i) dag.edges.push_back({next + i - 1, next + i});
      next += length;
      ends.push_back(next - 1);
    }
    for (uint32_t end : ends) dag.edges.push_back({end, next});
    fork = next++;
  }
  sort_unique(dag.edges);
  return dag;
}

Dag erdos_dag(uint32_t nodes, uint32_t degree, Random& random) {
  Dag dag{nodes, {}};
  const uint64_t pairs = uint64_t{nodes} * (nodes - 1) / 2;
  const uint64_t wanted = std::min(uint64_t{nodes} * degree, (pairs + 1) / 2);
  while (dag.edges.size() < wanted) {  // a few rounds: each replaces the duplicates of the last
    for (uint64_t i = dag.edges.size(); i < wanted; ++i) {
      const uint32_t a = random.below(nodes), other = random.below(nodes - 1);
      const uint32_t b = other + (other >= a ? 1 : 0);  // uniform among the nodes other than a
      dag.edges.push_back({std::min(a, b), std::max(a, b)});
    }
    sort_unique(dag.edges);
  }
  return dag;
}

GraphSpec weigh(std::string name, Dag dag, double ccr, Random& random) {
  constexpr double kMeanCost = 200;  // microseconds
  GraphSpec graph;
  graph.name = std::move(name);
  graph.nodes.resize(dag.nodes);
  std::vector<double> size(dag.nodes);
  double total_cost = 0, total_size = 0;
  for (uint32_t v = 0; v < dag.nodes; ++v) {
    NodeSpec& node = graph.nodes[v];
    node.name = "n" + std::to_string(v);
    node.op = "Random";
    node.cost_us = {kMeanCost * draw_weight(random)};
    total_cost += node.cost_us[0];
    size[v] = draw_weight(random);
  }
  graph.edges.reserve(dag.edges.size());
  for (const Dag::Edge& e : dag.edges) {
    total_size += size[e.source];
    graph.edges.push_back({e.source, 0, e.target});
  }
  const double edges = static_cast<double>(std::max<size_t>(1, dag.edges.size()));
  const double mean_size = dag.edges.empty() ? 1 : total_size / edges;
  const double mean_bytes = ccr * kReferenceBandwidth * total_cost / dag.nodes;
  for (uint32_t v = 0; v < dag.nodes; ++v) {
    graph.nodes[v].outputs = {static_cast<uint64_t>(size[v] / mean_size * mean_bytes + 0.5)};
  }
  return graph;
}

Result<GraphSpec> build_layered(const WorkloadOptions& o) {
  Random random(o.seed);
  return weigh("layered", layered_dag(o.nodes, o.width, random), o.ccr, random);
}

Result<GraphSpec> build_series_parallel(const WorkloadOptions& o) {
  Random random(o.seed);
  return weigh("series_parallel", series_parallel_dag(o.nodes, random), o.ccr, random);
}

Result<GraphSpec> build_fork_join(const WorkloadOptions& o) {
  Random random(o.seed);
  return weigh("fork_join", fork_join_dag(o.nodes, o.width, random), o.ccr, random);
}

Result<GraphSpec> build_erdos(const WorkloadOptions& o) {
  Random random(o.seed);
  return weigh("erdos", erdos_dag(o.nodes, o.degree, random), o.ccr, random);
}

}  // namespace placeto
