#include "runtime/heuristics/pipeline.h"

#include <algorithm>
#include <functional>

#include "runtime/base/no_index.h"
#include "runtime/groups/line_order.h"

namespace placeto {
namespace {

// Kahn's algorithm over groups. `depth_first`: what became ready last is next, else what stands
// first in topological order. A group that waits in a circle has its turn when nothing else has.
std::vector<uint32_t> order_groups(const Problem& problem, bool depth_first, Stop* stop) {
  const Graph& graph = problem.graph();
  std::vector<uint32_t> unmet(problem.group_count(), 0), order, ready;
  std::vector<uint32_t> rank(problem.group_count(), kNoIndex), by_rank;
  for (const uint32_t v : graph.topological_order()) {
    const uint32_t g = problem.group_of(v);
    if (rank[g] == kNoIndex) {
      rank[g] = static_cast<uint32_t>(by_rank.size());
      by_rank.push_back(g);
    }
    for (const InEdge& in : watched(graph.in_edges(v), stop)) {
      unmet[g] += problem.group_of(in.source) != g;
    }
    if (spend(stop, 1 + graph.in_edges(v).size())) return {};
  }
  for (auto g = by_rank.rbegin(); g != by_rank.rend(); ++g) {
    if (unmet[*g] == 0) ready.push_back(rank[*g]);
    if (spend(stop, 1)) return {};
  }
  if (!depth_first) std::reverse(ready.begin(), ready.end());  // ascending: a heap
  const auto add = [&](uint32_t g) {
    ready.push_back(rank[g]);
    if (!depth_first) std::push_heap(ready.begin(), ready.end(), std::greater<>());
  };
  std::vector<bool> taken(problem.group_count(), false);
  for (uint32_t next = 0; order.size() < problem.group_count();) {
    while (ready.empty() && taken[by_rank[next]]) ++next;
    if (ready.empty()) add(by_rank[next]);
    if (!depth_first) std::pop_heap(ready.begin(), ready.end(), std::greater<>());
    const uint32_t group = by_rank[ready.back()];
    ready.pop_back();
    if (taken[group]) continue;
    taken[group] = true;
    order.push_back(group);
    for (const uint32_t v : problem.members(group)) {
      for (const OutEdge& out : watched(graph.out_edges(v), stop)) {
        const uint32_t g = problem.group_of(out.target);
        if (g != group && --unmet[g] == 0 && !taken[g]) add(g);
      }
      if (spend(stop, 1 + graph.out_edges(v).size())) return {};
    }
  }
  return order;
}

}  // namespace

std::vector<std::vector<uint32_t>> pipeline_orders(const Problem& problem, Stop* stop) {
  return {order_groups(problem, false, stop), order_groups(problem, true, stop)};
}

Candidate place_pipeline(const Problem& problem, Evaluator& evaluator) {
  Stop* const stop = evaluator.stop();
  Candidate best{"pipeline", {}, Score::worst()};
  for (const std::vector<uint32_t>& order : pipeline_orders(problem, stop)) {
    for (const StageMemory memory : {StageMemory::kShare, StageMemory::kHeld}) {
      if (stopped(stop)) break;
      int attempts = 0;
      Candidate found =
          place_within_memory(problem, evaluator, "pipeline", [&](const MemoryPlan& plan) {
            ++attempts;
            return best_pipeline(problem, order, plan, memory, stop);
          });
      const bool at_once = attempts == 1 && found.score.feasible();
      if (!found.assignment.empty() && found.score < best.score) best = std::move(found);
      if (at_once) break;  // memory does not matter
    }
  }
  return best;
}

Candidate place_chain(const Problem& problem, Evaluator& evaluator) {
  Stop* const stop = evaluator.stop();
  const std::vector<uint32_t> order = line_order(problem, stop);
  if (stopped(stop)) return {};
  return place_within_memory(problem, evaluator, "chain", [&](const MemoryPlan& plan) {
    return best_chain(problem, order, plan, stop);
  });
}

}  // namespace placeto
