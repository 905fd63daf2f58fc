#include "runtime/heuristics/hierarchy.h"

#include <algorithm>
#include <numeric>

#include "runtime/base/stoppable_sort.h"

namespace placeto {
namespace {

constexpr uint32_t kUnmatched = 0xffffffffu;

// An undirected weighted graph of groups.
struct GroupGraph {
  std::vector<uint32_t> offset, neighbour;
  std::vector<double> weight;  // mean transfer time between the two groups
  std::vector<double> work;    // mean run time of each group
  uint32_t size() const { return static_cast<uint32_t>(work.size()); }
};

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

GroupGraph finest_graph(const Problem& problem, Stop* stop) {
  const Graph& graph = problem.graph();
  GroupGraph result;
  result.work.assign(problem.group_count(), 0);
  std::vector<HalfEdge> edges;
  edges.reserve(2 * size_t{graph.edge_count()});
  for (uint32_t v = 0; v < graph.node_count(); ++v) {
    const uint32_t from = problem.group_of(v);
    result.work[from] += problem.mean_run_us(v);
    for (const OutEdge& e : graph.out_edges(v)) {
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
    for (uint32_t i = fine.offset[g]; i < fine.offset[g + 1]; ++i) {
      const uint32_t to = coarse_of[fine.neighbour[i]];
      if (to != coarse_of[g]) edges.push_back({coarse_of[g], to, fine.weight[i]});
    }
    if (spend(stop, 1 + fine.offset[g + 1] - fine.offset[g])) return coarse;
  }
  fill_rows(edges, coarse, stop);
  return coarse;
}

// One round of matching, incomplete if stopped. Devices allowed to a group are kept as bit sets
// only where they differ from "all"; `compatible` asks whether two groups share one.
class Matching {
 public:
  Matching(const GroupGraph& graph, double most_work, Stop* stop)
      : graph_(graph), most_work_(most_work), stop_(stop) {
    mate_.assign(graph.size(), kUnmatched);
  }

  template <class Compatible>
  void match(Compatible compatible) {
    std::vector<uint32_t> order(graph_.size());
    std::iota(order.begin(), order.end(), 0u);
    stoppable_sort(
        order.begin(), order.end(),
        [this](uint32_t a, uint32_t b) {
          return graph_.work[a] < graph_.work[b];  // small groups first: sizes stay even
        },
        stop_);
    for (uint32_t g : order) {
      if (spend(stop_, 1 + graph_.offset[g + 1] - graph_.offset[g])) return;
      if (mate_[g] == kUnmatched) match_with_neighbour(g, compatible);
    }
    match_siblings(order, compatible);
    match_isolated(order, compatible);
  }

  // Numbers the merged groups by their lowest member; returns how many there are.
  uint32_t number(std::vector<uint32_t>& coarse_of) const {
    uint32_t count = 0;
    coarse_of.assign(graph_.size(), kUnmatched);
    for (uint32_t g = 0; g < graph_.size(); ++g) {
      if (coarse_of[g] != kUnmatched) continue;
      coarse_of[g] = count;
      if (mate_[g] != kUnmatched) coarse_of[mate_[g]] = count;
      ++count;
    }
    return count;
  }

 private:
  bool small_enough(uint32_t a, uint32_t b) const {
    return graph_.work[a] + graph_.work[b] <= most_work_;
  }

  // Rating: weight^2 / (work x work), so that what exchanges much for its work goes together.
  template <class Compatible>
  void match_with_neighbour(uint32_t g, Compatible compatible) {
    uint32_t best = kUnmatched;
    double best_rating = -1;
    for (uint32_t i = graph_.offset[g]; i < graph_.offset[g + 1]; ++i) {
      const uint32_t other = graph_.neighbour[i];
      if (mate_[other] != kUnmatched || !small_enough(g, other)) continue;
      const double weight = graph_.weight[i];
      const double rating =
          weight * weight / ((graph_.work[g] + 1e-9) * (graph_.work[other] + 1e-9));
      if (rating > best_rating && compatible(g, other)) {
        best = other;
        best_rating = rating;
      }
    }
    if (best == kUnmatched) return;
    mate_[g] = best;
    mate_[best] = g;
  }

  // Leaves of a star have no unmatched neighbour: pair those with the same heaviest one.
  template <class Compatible>
  void match_siblings(const std::vector<uint32_t>& order, Compatible compatible) {
    std::vector<uint32_t> waiting(graph_.size(), kUnmatched);
    for (uint32_t g : order) {
      if (mate_[g] != kUnmatched || graph_.offset[g] == graph_.offset[g + 1]) continue;
      if (spend(stop_, graph_.offset[g + 1] - graph_.offset[g])) return;
      uint32_t heaviest = graph_.offset[g];
      for (uint32_t i = heaviest; i < graph_.offset[g + 1]; ++i) {
        if (graph_.weight[i] > graph_.weight[heaviest]) heaviest = i;
      }
      uint32_t& sibling = waiting[graph_.neighbour[heaviest]];
      if (sibling != kUnmatched && small_enough(g, sibling) && compatible(g, sibling)) {
        mate_[g] = sibling;
        mate_[sibling] = g;
        sibling = kUnmatched;
      } else {
        sibling = g;
      }
    }
  }

  // What has no neighbour at all, e.g. a whole component by now, goes with its like.
  template <class Compatible>
  void match_isolated(const std::vector<uint32_t>& order, Compatible compatible) {
    uint32_t waiting = kUnmatched;
    for (uint32_t g : order) {
      if (mate_[g] != kUnmatched || graph_.offset[g] != graph_.offset[g + 1]) continue;
      if (waiting != kUnmatched && small_enough(g, waiting) && compatible(g, waiting)) {
        mate_[g] = waiting;
        mate_[waiting] = g;
        waiting = kUnmatched;
      } else {
        waiting = g;
      }
    }
  }

  const GroupGraph& graph_;
  double most_work_;
  Stop* stop_;
  std::vector<uint32_t> mate_;
};

// Devices allowed to every group, as bit rows; empty when everything is allowed everywhere.
std::vector<std::vector<bool>> allowed_rows(const Problem& problem, Stop* stop) {
  std::vector<std::vector<bool>> rows(problem.group_count());
  for (uint32_t g = 0; g < problem.group_count(); ++g) {
    if (spend(stop, 4 + problem.device_count() / 4)) break;
    rows[g].resize(problem.device_count());
    for (uint32_t d = 0; d < problem.device_count(); ++d) rows[g][d] = problem.allowed(g, d);
  }
  return rows;
}

bool all_allowed(const Problem& problem, Stop* stop) {
  for (uint32_t g = 0; g < problem.group_count(); ++g) {
    if (spend(stop, 1 + problem.device_count() / 8)) break;
    for (uint32_t d = 0; d < problem.device_count(); ++d) {
      if (!problem.allowed(g, d)) return false;
    }
  }
  return true;
}

bool intersect(const std::vector<bool>& a, const std::vector<bool>& b) {
  for (size_t i = 0; i < a.size(); ++i) {
    if (a[i] && b[i]) return true;
  }
  return false;
}

void merge_rows(std::vector<std::vector<bool>>& rows, const std::vector<uint32_t>& coarse_of,
                uint32_t coarse_count, Stop* stop) {
  std::vector<std::vector<bool>> merged(coarse_count);
  for (size_t g = 0; g < rows.size(); ++g) {
    if (spend(stop, 4 + rows[g].size() / 16)) break;
    std::vector<bool>& row = merged[coarse_of[g]];
    if (row.empty()) {
      row = rows[g];
      continue;
    }
    for (size_t d = 0; d < row.size(); ++d) row[d] = row[d] && rows[g][d];
  }
  rows = std::move(merged);
}

}  // namespace

Hierarchy::Hierarchy(const Problem& problem, Stop* stop, uint32_t groups_per_device)
    : problem_(&problem), stop_(stop), everything_allowed_(all_allowed(problem, stop)) {
  std::vector<uint32_t> group_of(problem.group_count()), coarse_of;
  std::iota(group_of.begin(), group_of.end(), 0u);
  GroupGraph graph = finest_graph(problem, stop);
  std::vector<std::vector<bool>> rows;
  if (!everything_allowed_) rows = allowed_rows(problem, stop);
  const double total = std::accumulate(graph.work.begin(), graph.work.end(), 0.0);
  if (stopped(stop)) return;
  add_level(group_of, graph.size());
  while (graph.size() > std::max(2u, groups_per_device * problem.device_count())) {
    if (stopped(stop)) return;
    Matching matching(graph, total / 2, stop);
    matching.match(
        [&rows](uint32_t a, uint32_t b) { return rows.empty() || intersect(rows[a], rows[b]); });
    if (stopped(stop)) return;
    const uint32_t coarse_count = matching.number(coarse_of);
    // Under 20 groups a twentieth is none, and a matching may be empty: that must end it, too.
    if (coarse_count > graph.size() - std::max(1u, graph.size() / 20)) break;
    for (uint32_t& g : group_of) g = coarse_of[g];
    if (!rows.empty()) merge_rows(rows, coarse_of, coarse_count, stop);
    graph = contract(graph, coarse_of, coarse_count, stop);
    if (stopped(stop)) return;
    add_level(group_of, coarse_count);
  }
}

void Hierarchy::add_level(std::vector<uint32_t> group_of, uint32_t groups) {
  Level level;
  level.offset.assign(groups + 1, 0);
  for (uint32_t g = 0; g < group_of.size(); ++g) {
    level.offset[group_of[g] + 1] += static_cast<uint32_t>(problem_->members(g).size());
  }
  std::partial_sum(level.offset.begin(), level.offset.end(), level.offset.begin());
  std::vector<uint32_t> end(level.offset.begin(), level.offset.end() - 1);
  level.nodes.resize(problem_->node_count());
  for (uint32_t g = 0; g < group_of.size(); ++g) {
    for (uint32_t v : problem_->members(g)) level.nodes[end[group_of[g]]++] = v;
    if (spend(stop_, problem_->members(g).size())) return;  // the level is left out
  }
  level.group_of = std::move(group_of);
  levels_.push_back(std::move(level));
}

bool Hierarchy::allowed(uint32_t level, uint32_t group, uint32_t device) const {
  if (everything_allowed_) return true;
  const auto in_group = nodes(level, group);
  return std::all_of(in_group.begin(), in_group.end(),
                     [&](uint32_t v) { return problem_->allowed(problem_->group_of(v), device); });
}

}  // namespace placeto
