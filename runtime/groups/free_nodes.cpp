#include "runtime/heuristics/free_nodes.h"

#include <algorithm>

namespace placeto {

FreeNodes::FreeNodes(const Problem& problem, Stop* stop) : problem_(&problem), stop_(stop) {
  const Graph& graph = problem.graph();
  std::vector<bool> free(graph.node_count(), false);
  bool any = false;
  for (const uint32_t v : graph.topological_order()) {
    if (spend(stop_, 1)) return;
    if (problem.mean_run_us(v) != 0 || graph.out_edges(v).empty()) continue;
    const auto in = graph.in_edges(v);
    free[v] = std::all_of(in.begin(), in.end(), [&](const InEdge& e) { return free[e.source]; });
    any |= free[v];
  }
  if (!any) return;
  free_ = std::move(free);
  bound_.assign(problem.group_count(), false);
  mixed_.assign(problem.group_count(), false);
  for (uint32_t v = 0; v < graph.node_count(); ++v) {
    (free_[v] ? mixed_ : bound_)[problem.group_of(v)] = true;
  }
}

void FreeNodes::place(uint32_t node, uint32_t wanted, std::vector<uint32_t>& group_device,
                      ListSchedule& schedule, MemoryPlan& plan) {
  const uint32_t group = problem_->group_of(node);
  uint32_t& device = group_device[group];
  if (device == ListSchedule::kNowhere) {
    device = wanted;
    for (uint32_t d = 0; !problem_->allowed(group, device); ++d) device = d;
    plan.take(group, device);
  }
  schedule.place_free(node, device);
}

void FreeNodes::follow(uint32_t node, std::vector<uint32_t>& group_device, ListSchedule& schedule,
                       MemoryPlan& plan) {
  if (free_.empty()) return;
  const uint32_t device = schedule.device_of(node);
  const auto wait = [&](uint32_t v) {
    if (free_[v] && !schedule.placed(v)) waiting_.push_back(v);
  };
  if (const uint32_t group = problem_->group_of(node); mixed_[group]) {
    for (const uint32_t v : problem_->members(group)) wait(v);
    spend(stop_, problem_->members(group).size());
  }
  for (const InEdge& in : problem_->graph().in_edges(node)) wait(in.source);
  while (!waiting_.empty()) {
    const uint32_t v = waiting_.back(), group = problem_->group_of(v);
    waiting_.pop_back();
    const bool others_decide = bound_[group] && group_device[group] == ListSchedule::kNowhere;
    if (others_decide || schedule.placed(v)) continue;
    place(v, device, group_device, schedule, plan);
    for (const InEdge& in : problem_->graph().in_edges(v)) wait(in.source);
  }
}

void FreeNodes::place_rest(std::vector<uint32_t>& group_device, ListSchedule& schedule,
                           MemoryPlan& plan) {
  if (free_.empty()) return;
  const auto order = problem_->graph().topological_order();
  for (auto v = order.rbegin(); v != order.rend(); ++v) {
    if (spend(stop_, 1)) return;
    if (schedule.placed(*v)) continue;
    place(*v, schedule.device_of(problem_->graph().out_edges(*v)[0].target), group_device, schedule,
          plan);
  }
}

}  // namespace placeto
