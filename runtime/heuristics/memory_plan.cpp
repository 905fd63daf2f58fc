#include "runtime/heuristics/memory_plan.h"

#include <algorithm>

namespace placeto {

MemoryPlan::MemoryPlan(const Problem& problem)
    : problem_(&problem),
      limited_(problem.memory_limited()),
      output_bytes_(limited_ ? problem.group_count() : 0),
      budget_(problem.device_count()),
      taken_(problem.device_count()) {
  for (uint32_t d = 0; d < problem.device_count(); ++d) {
    budget_[d] = static_cast<double>(problem.memory_limit(d));
  }
  if (!limited_) return;
  const Graph& graph = problem.graph();
  for (uint32_t o = 0; o < graph.output_count(); ++o) {
    output_bytes_[problem.group_of(graph.producer(o))] +=
        static_cast<double>(graph.output_bytes(o));
  }
}

void MemoryPlan::learn(std::span<const uint32_t> assignment, std::span<const uint64_t> peak) {
  const uint32_t devices = problem_->device_count();
  std::vector<double> resident(devices, 0), outputs(devices, 0);
  for (uint32_t g = 0; g < problem_->group_count(); ++g) {
    const uint32_t device = assignment[problem_->members(g)[0]];
    resident[device] += static_cast<double>(problem_->resident_bytes(g));
    outputs[device] += output_bytes_[g];
  }
  double share = share_;
  for (uint32_t d = 0; d < devices; ++d) {
    const auto held = static_cast<double>(peak[d]);
    if (outputs[d] > 0) share = std::max(share, std::min(1.0, (held - resident[d]) / outputs[d]));
  }
  if (share > share_) {
    share_ = share;
    return;
  }
  // The share explains nothing more: take the overflow off the budgets.
  for (uint32_t d = 0; d < devices; ++d) {
    if (peak[d] <= problem_->memory_limit(d)) continue;
    budget_[d] -= 1.05 * static_cast<double>(peak[d] - problem_->memory_limit(d));
  }
}

Candidate place_within_memory(const Problem& problem, Evaluator& evaluator, std::string name,
                              const std::function<Assignment(MemoryPlan&)>& build) {
  constexpr int kAttempts = 6;
  MemoryPlan plan(problem);
  Candidate best{std::move(name), {}, {}};
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    plan.clear();
    Assignment assignment = build(plan);
    if (stopped(evaluator.stop())) return best;
    if (assignment.empty()) break;
    const Score score = evaluator.evaluate(assignment);
    if (stopped(evaluator.stop())) return best;
    if (best.assignment.empty() || score < best.score) {
      best.assignment = assignment;
      best.score = score;
    }
    if (score.feasible()) return best;
    const std::vector<uint64_t>& peak = evaluator.timeline(assignment).peak_memory_bytes;
    if (stopped(evaluator.stop())) return best;
    plan.learn(assignment, peak);
  }
  if (!best.assignment.empty()) evaluator.evaluate(best.assignment);
  return best;
}

}  // namespace placeto
