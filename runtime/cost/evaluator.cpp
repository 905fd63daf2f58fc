#include "runtime/cost/evaluator.h"

#include <algorithm>

#include "runtime/cost/memory.h"

namespace placeto {

Evaluator::Evaluator(const Problem& problem, Stop* stop)
    : problem_(&problem),
      stop_(stop),
      simulator_(problem, stop),
      held_(problem.device_count()),
      workspace_(problem.device_count()),
      seen_(problem.device_count()) {}

bool Evaluator::surely_fits(std::span<const uint32_t> assignment) {
  if (!problem_->may_overflow()) return true;
  const Graph& graph = problem_->graph();
  std::fill(held_.begin(), held_.end(), 0);
  std::fill(workspace_.begin(), workspace_.end(), 0);
  std::fill(seen_.begin(), seen_.end(), kControlEdge);
  for (uint32_t v = 0; v < graph.node_count(); ++v) {
    const uint32_t device = assignment[v];
    held_[device] += graph.node(v).resident_bytes;
    workspace_[device] = std::max(workspace_[device], graph.node(v).workspace_bytes);
    for (uint32_t o = graph.output_begin(v); o < graph.output_end(v); ++o) {
      held_[device] += graph.output_bytes(o);
      seen_[device] = o;
      for (uint32_t w : watched(graph.consumers(o), stop_)) {
        if (seen_[assignment[w]] == o) continue;
        seen_[assignment[w]] = o;
        held_[assignment[w]] += graph.output_bytes(o);
      }
    }
    if (spend(stop_, graph.out_work(v))) return false;
  }
  for (uint32_t d = 0; d < problem_->device_count(); ++d) {
    const uint64_t limit = problem_->memory_limit(d);
    if (held_[d] > limit || workspace_[d] > limit - held_[d]) return false;
    held_[d] += workspace_[d];
  }
  return true;
}

Score Evaluator::evaluate(std::span<const uint32_t> assignment, const Division& division,
                          double cutoff_us) {
  ++evaluations_;
  const bool latency = problem_->is_for_latency();
  if (surely_fits(assignment)) {
    const double objective_us = latency ? simulator_.makespan_us(assignment, division, cutoff_us)
                                        : simulator_.bottleneck_us(assignment, division);
    return stopped(stop_) ? Score::worst() : Score{0, objective_us};
  }
  return score_of(latency ? simulator_.run_below(cutoff_us, assignment, division)
                          : &simulator_.run(assignment, division));
}

Score Evaluator::score_of(const Timeline* timeline) {
  if (stopped(stop_)) return Score::worst();
  if (timeline == nullptr) return {0, kNever};  // late
  const bool latency = problem_->is_for_latency();
  held_ = timeline->peak_memory_bytes;
  return {overflow_bytes(*problem_, held_),
          latency ? timeline->makespan_us : timeline->bottleneck_us};
}

bool obeys_rules(const Problem& problem, std::span<const uint32_t> assignment) {
  if (assignment.size() != problem.node_count()) return false;
  for (uint32_t g = 0; g < problem.group_count(); ++g) {
    const uint32_t device = assignment[problem.members(g)[0]];
    if (device >= problem.device_count() || !problem.allowed(g, device)) return false;
    for (uint32_t v : problem.members(g)) {
      if (assignment[v] != device) return false;
    }
  }
  return true;
}

std::vector<uint64_t> memory_shortfall(const Problem& problem, std::span<const uint64_t> peak) {
  std::vector<uint64_t> shortfall(problem.device_count(), 0);
  for (uint32_t d = 0; d < problem.device_count(); ++d) {
    if (peak[d] > problem.memory_limit(d)) shortfall[d] = peak[d] - problem.memory_limit(d);
  }
  return shortfall;
}

}  // namespace placeto
