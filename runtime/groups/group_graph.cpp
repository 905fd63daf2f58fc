#include "runtime/groups/group_graph.h"

#include <numeric>

#include "runtime/base/stoppable_sort.h"

namespace placeto {
namespace {

struct HalfEdge {
  uint32_t from, to;
  double weight;
};

// Sorts into rows and merges parallel edges.
void fill_rows(std::vector<HalfEdge>& edges, GroupGraph& graph, Stop* stop) {
  stoppable_sort(
      edges.begin(), edges.end(),
      [](const HalfEdge& a, const HalfEdge& b) {
        return a.from != b.from ? a.from < b.from : a.to < b.to;
      },
      stop);
  graph.offset.assign(graph.size() + 1, 0);
  graph.neighbour.clear();
  graph.weight.clear();
  for (size_t i = 0; i < edges.size(); ++i) {
    if (spend(stop, 1)) return;
    const bool parallel =
        i > 0 && edges[i].from == edges[i - 1].from && edges[i].to == edges[i - 1].to;
    if (parallel) {
      graph.weight.back() += edges[i].weight;
      continue;
    }
    graph.neighbour.push_back(edges[i].to);
    graph.weight.push_back(edges[i].weight);
    ++graph.offset[edges[i].from + 1];
  }
  std::partial_sum(graph.offset.begin(), graph.offset.end(), graph.offset.begin());
}

bool all_allowed(const Problem& problem, Stop* stop) {
  for (uint32_t g = 0; g < problem.group_count(); ++g) {
    if (spend(stop, 1 + Stop::compared(problem.device_count()))) break;
    for (uint32_t d = 0; d < problem.device_count(); ++d) {
      if (!problem.allowed(g, d)) return false;
    }
  }
  return true;
}

}  // namespace

GroupGraph group_graph(const Problem& problem, Stop* stop) {
  const Graph& graph = problem.graph();
  GroupGraph result;
  result.work.assign(problem.group_count(), 0);
  std::vector<HalfEdge> edges;
  edges.reserve(2 * size_t{graph.edge_count()});
  for (uint32_t v = 0; v < graph.node_count(); ++v) {
    const uint32_t from = problem.group_of(v);
    result.work[from] += problem.mean_run_us(v);
    for (const OutEdge& e : watched(graph.out_edges(v), stop)) {
      const uint32_t to = problem.group_of(e.target);
      if (from == to) continue;
      // Control edges tie a little: following them keeps the levels shrinking.
      const double weight = problem.mean_transfer_us(e.output) + 1e-9;
      edges.push_back({from, to, weight});
      edges.push_back({to, from, weight});
    }
    if (spend(stop, 1 + 2 * graph.out_edges(v).size())) return result;
  }
  fill_rows(edges, result, stop);
  return result;
}

GroupGraph contract(const GroupGraph& fine, const std::vector<uint32_t>& coarse_of,
                    uint32_t coarse_count, Stop* stop) {
  GroupGraph coarse;
  coarse.work.assign(coarse_count, 0);
  std::vector<HalfEdge> edges;
  edges.reserve(fine.neighbour.size());
  for (uint32_t g = 0; g < fine.size(); ++g) {
    coarse.work[coarse_of[g]] += fine.work[g];
    in_pieces(fine.offset[g], fine.offset[g + 1], stop, [&](uint32_t i) {
      const uint32_t to = coarse_of[fine.neighbour[i]];
      if (to != coarse_of[g]) edges.push_back({coarse_of[g], to, fine.weight[i]});
    });
    if (spend(stop, 1 + fine.offset[g + 1] - fine.offset[g])) return coarse;
  }
  fill_rows(edges, coarse, stop);
  return coarse;
}

DeviceRows device_rows(const Problem& problem, Stop* stop) {
  if (all_allowed(problem, stop)) return {};
  DeviceRows rows(problem.group_count());
  for (uint32_t g = 0; g < problem.group_count(); ++g) {
    if (spend(stop, 4 + Stop::looked_up(problem.device_count()))) break;
    rows[g].resize(problem.device_count());
    for (uint32_t d = 0; d < problem.device_count(); ++d) rows[g][d] = problem.allowed(g, d);
  }
  return rows;
}

bool share_device(const DeviceRows& rows, uint32_t a, uint32_t b) {
  if (rows.empty()) return true;
  for (size_t d = 0; d < rows[a].size(); ++d) {
    if (rows[a][d] && rows[b][d]) return true;
  }
  return false;
}

DeviceRows contract(const DeviceRows& fine, const std::vector<uint32_t>& coarse_of,
                    uint32_t coarse_count, Stop* stop) {
  if (fine.empty()) return {};
  DeviceRows coarse(coarse_count);
  for (size_t g = 0; g < fine.size(); ++g) {
    if (spend(stop, 4 + Stop::copied(fine[g].size()))) break;
    std::vector<bool>& row = coarse[coarse_of[g]];
    if (row.empty()) {
      row = fine[g];
      continue;
    }
    for (size_t d = 0; d < row.size(); ++d) row[d] = row[d] && fine[g][d];
  }
  return coarse;
}

}  // namespace placeto
