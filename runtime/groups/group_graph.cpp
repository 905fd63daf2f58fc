#include "runtime/groups/group_graph.h"

#include <numeric>

#include "runtime/base/stoppable_sort.h"
#include "runtime/base/uncleared.h"

namespace placeto {
namespace {

struct Neighbour {
  uint32_t group;
  double weight;
};

// Sorts each row and merges parallel edges, in the order in which they came. `end`: of each row.
void sort_rows(const std::vector<uint32_t>& end, GroupGraph& graph, Stop* stop) {
  std::vector<Neighbour> row;
  Uncleared<Neighbour> scratch;
  uint32_t kept = 0;
  for (uint32_t g = 0; g < graph.size(); ++g) {
    row.clear();
    in_pieces(graph.offset[g], end[g], stop, [&](uint32_t i) {
      row.push_back({graph.neighbour[i], graph.weight[i]});
    });
    stoppable_sort(
        row.begin(), row.end(),
        [](const Neighbour& a, const Neighbour& b) { return a.group < b.group; }, stop, &scratch);
    const uint32_t begin = graph.offset[g] = kept;
    for (const Neighbour& next : watched(row, stop)) {
      if (kept > begin && graph.neighbour[kept - 1] == next.group) {
        graph.weight[kept - 1] += next.weight;
        continue;
      }
      graph.neighbour[kept] = next.group;
      graph.weight[kept++] = next.weight;
    }
    if (spend(stop, 1 + 2 * row.size())) return;
  }
  graph.offset.back() = kept;
  graph.neighbour.resize(kept);
  graph.weight.resize(kept);
}

// The rows, from `each_edge(visit)`, which calls visit(from, to, weight) for every edge in both
// directions, twice in the same order: first they are counted. Nothing but the rows is held, as
// what a large graph takes has to be given back, too, and the system takes milliseconds for that.
template <class EachEdge>
void fill_rows(GroupGraph& graph, Stop* stop, const EachEdge& each_edge) {
  std::vector<uint32_t> end(graph.size() + 1, 0);
  each_edge([&](uint32_t from, uint32_t, double) { ++end[from + 1]; });
  std::partial_sum(end.begin(), end.end(), end.begin());
  graph.offset = end;
  if (spend(stop, Stop::looked_up(graph.size()))) return;
  if (assign(graph.neighbour, end.back(), 0u, stop)) return;
  if (assign(graph.weight, end.back(), 0.0, stop)) return;
  each_edge([&](uint32_t from, uint32_t to, double weight) {
    graph.neighbour[end[from]] = to;
    graph.weight[end[from]++] = weight;
  });
  if (!stopped(stop)) sort_rows(end, graph, stop);
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
  double work_us = 0;
  for (uint32_t v = 0; v < graph.node_count(); ++v) {
    result.work[problem.group_of(v)] += problem.mean_run_us(v);
    work_us += problem.mean_run_us(v);
    if (spend(stop, 1)) return result;
  }
  constexpr double kLittle = 1e-11;  // of a mean node
  result.little_us = kLittle * (work_us > 0 ? work_us / graph.node_count() : 1);
  fill_rows(result, stop, [&](const auto& visit) {
    for (uint32_t v = 0; v < graph.node_count(); ++v) {
      const uint32_t from = problem.group_of(v);
      for (const OutEdge& e : watched(graph.out_edges(v), stop)) {
        const uint32_t to = problem.group_of(e.target);
        if (from == to) continue;
        // Following control edges keeps the levels shrinking.
        const double weight = problem.mean_transfer_us(e.output) + result.little_us;
        visit(from, to, weight);
        visit(to, from, weight);
      }
      if (spend(stop, 1 + 2 * graph.out_edges(v).size())) return;
    }
  });
  return result;
}

GroupGraph contract(const GroupGraph& fine, const std::vector<uint32_t>& coarse_of,
                    uint32_t coarse_count, Stop* stop) {
  GroupGraph coarse;
  coarse.work.assign(coarse_count, 0);
  coarse.little_us = fine.little_us;
  for (uint32_t g = 0; g < fine.size(); ++g) {
    coarse.work[coarse_of[g]] += fine.work[g];
    if (spend(stop, 1)) return coarse;
  }
  fill_rows(coarse, stop, [&](const auto& visit) {
    for (uint32_t g = 0; g < fine.size(); ++g) {
      const uint32_t from = coarse_of[g];
      in_pieces(fine.offset[g], fine.offset[g + 1], stop, [&](uint32_t i) {
        const uint32_t to = coarse_of[fine.neighbour[i]];
        if (to != from) visit(from, to, fine.weight[i]);
      });
      if (spend(stop, 1 + fine.offset[g + 1] - fine.offset[g])) return;
    }
  });
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
