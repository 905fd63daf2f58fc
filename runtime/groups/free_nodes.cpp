#include "runtime/groups/free_nodes.h"

#include <numeric>

#include "runtime/base/no_index.h"

namespace placeto {

FreeNodes::FreeNodes(const Problem& problem, Stop* stop) : problem_(&problem) {
  std::vector<uint32_t> reader;  // of free nodes: the one that is needed first and is not free
  if (!find(reader, stop)) return;
  const auto rank = problem.upward_rank();
  const auto sooner = [&](uint32_t a, uint32_t b) {
    return b == kNoIndex || (a != kNoIndex && (rank[a] != rank[b] ? rank[a] > rank[b] : a < b));
  };
  const auto order = problem.graph().topological_order();
  for (auto v = order.rbegin(); v != order.rend(); ++v) {
    if (!free_[*v]) continue;
    for (const OutEdge& out : watched(problem.graph().out_edges(*v), stop)) {
      const uint32_t other = free_[out.target] ? reader[out.target] : out.target;
      if (sooner(other, reader[*v])) reader[*v] = other;
    }
    if (spend(stop, 1 + problem.graph().out_edges(*v).size())) return;
  }
  has_free_.assign(problem.group_count(), false);
  decider_.resize(problem.group_count());
  for (uint32_t g = 0; g < problem.group_count(); ++g) {
    uint32_t first = kNoIndex;
    bool all = true;
    for (const uint32_t v : watched(problem.members(g), stop)) {
      all = all && free_[v];
      if (!free_[v]) continue;
      has_free_[g] = true;
      if (sooner(reader[v], first)) first = reader[v];
    }
    decider_[g] = all ? problem.group_of(first) : g;
    if (spend(stop, problem.members(g).size())) break;
  }
  list_followers(stop);
  if (!stopped(stop)) return;
  decider_.clear();
  has_free_.clear();
  begin_.clear();
}

// Whether there are any.
bool FreeNodes::find(std::vector<uint32_t>& reader, Stop* stop) {
  const Graph& graph = problem_->graph();
  std::vector<bool> free(graph.node_count(), false);
  bool any = false;
  for (const uint32_t v : graph.topological_order()) {
    if (spend(stop, 1)) return false;
    if (problem_->mean_run_us(v) != 0 || graph.out_edges(v).empty()) continue;
    free[v] = true;
    for (const InEdge& in : watched(graph.in_edges(v), stop)) {
      free[v] = free[in.source];
      if (!free[v]) break;
    }
    any |= free[v];
  }
  if (!any) return false;
  free_ = std::move(free);
  reader.assign(graph.node_count(), kNoIndex);
  return true;
}

void FreeNodes::list_followers(Stop* stop) {
  const uint32_t groups = problem_->group_count();
  begin_.assign(groups + 1, 0);
  in_pieces(0, groups, stop, [&](uint32_t g) { begin_[decider_[g] + 1] += decider_[g] != g; });
  if (stopped(stop)) return;
  std::partial_sum(begin_.begin(), begin_.end(), begin_.begin());
  followers_.resize(begin_.back());
  std::vector<uint32_t> end(begin_.begin(), begin_.end() - 1);
  in_pieces(0, groups, stop, [&](uint32_t g) {
    if (decider_[g] != g) followers_[end[decider_[g]]++] = g;
  });
}

}  // namespace placeto
