#include "tools/report/reasons.h"

#include <algorithm>
#include <numeric>

#include "runtime/placer/explain.h"

namespace placeto {
namespace {

// All nodes: those of `first` in their order, then the others by falling run time.
std::vector<uint32_t> asking_order(const Problem& problem, std::span<const uint32_t> assignment,
                                   std::span<const uint32_t> first) {
  std::vector<uint8_t> taken(assignment.size(), 0);
  for (const uint32_t v : first) taken[v] = 1;
  std::vector<uint32_t> order(first.begin(), first.end());
  for (uint32_t v = 0; v < assignment.size(); ++v) {
    if (!taken[v]) order.push_back(v);
  }
  std::stable_sort(order.begin() + static_cast<std::ptrdiff_t>(first.size()), order.end(),
                   [&](uint32_t a, uint32_t b) {
                     return problem.run_us(a, assignment[a]) > problem.run_us(b, assignment[b]);
                   });
  return order;
}

}  // namespace

uint64_t work_of_reason(const Problem& problem) {
  // Where memory may run short, an evaluation meters what devices hold; stages are formed anew, and
  // a bottleneck needs the whole run. On 1,000 to 30,000 nodes that took 4 to 13 times as long.
  constexpr uint64_t kWhole = 6;
  const bool whole = problem.may_overflow() || !problem.is_for_latency() ||
                     problem.execution() == Execution::kStaged;
  // An evaluation looks at every node and at every edge; most graphs have about as many of both.
  const uint64_t looked_at = std::max(problem.node_count(), problem.graph().edge_count());
  const uint64_t evaluations = uint64_t{problem.device_count()} * looked_at;
  return whole ? kWhole * evaluations : evaluations;
}

Reasons explain_nodes(const Problem& problem, std::span<const uint32_t> assignment,
                      const Division& division, std::span<const uint32_t> first, uint64_t work) {
  const size_t nodes = assignment.size();
  Reasons reasons{std::vector<uint32_t>(nodes, Reasons::kNotAsked), std::vector<double>(nodes, 0),
                  std::vector<uint8_t>(nodes, 0)};
  if (nodes == 0) return reasons;
  const uint64_t per_node = work_of_reason(problem);
  Explainer explainer(problem, assignment, division);
  for (const uint32_t v : asking_order(problem, assignment, first)) {
    if (work < per_node) break;
    work -= per_node;
    const Reason reason = explainer.explain(v);
    reasons.here_us = reason.score.objective_us;
    reasons.second[v] = reason.second ? reason.second->device : Reasons::kNoOther;
    if (reason.second) {
      reasons.there_us[v] = reason.second->score.objective_us;
      reasons.there_fits[v] = reason.second->score.feasible();
    }
    ++reasons.asked;
  }
  return reasons;
}

}  // namespace placeto
