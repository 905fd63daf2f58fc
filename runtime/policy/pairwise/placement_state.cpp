#include "runtime/policy/pairwise/placement_state.h"

#include <algorithm>

#include "runtime/timeline/last_input.h"

namespace placeto {

PlacementState::PlacementState(const Problem& problem, Stop* stop)
    : problem_(&problem),
      device_of_(problem.node_count()),
      start_(problem.node_count()),
      finish_(problem.node_count()),
      wait_(problem.node_count()),
      critical_(problem.node_count()) {
  const Graph& graph = problem.graph();
  double run = 0, transfer = 0;
  for (uint32_t v = 0; v < graph.node_count(); ++v) {
    run += problem.mean_run_us(v);
    for (const OutEdge& e : watched(graph.out_edges(v), stop)) {
      transfer += problem.mean_transfer_us(e.output);
    }
    if (spend(stop, 1 + graph.out_edges(v).size())) return;
  }
  mean_load_ = run / problem.device_count();
  const double mean_run = run / graph.node_count();
  const double mean_transfer = graph.edge_count() == 0 ? 0 : transfer / graph.edge_count();
  communication_ = mean_transfer + mean_run > 0 ? mean_transfer / (mean_transfer + mean_run) : 0;
}

void PlacementState::refresh(const MoveEvaluator& evaluator) {
  stop_ = evaluator.stop();
  std::copy(evaluator.assignment().begin(), evaluator.assignment().end(), device_of_.begin());
  std::copy(evaluator.start_us().begin(), evaluator.start_us().end(), start_.begin());
  std::copy(evaluator.finish_us().begin(), evaluator.finish_us().end(), finish_.begin());
  makespan_us_ = *std::max_element(finish_.begin(), finish_.end());
  if (makespan_us_ == 0) makespan_us_ = 1;  // nothing takes time, in any unit
  evaluator.start_order(order_);
  if (spend(stop_, Stop::looked_up(order_.size()))) return;
  chain_.update(evaluator);
  if (stopped(stop_)) return;
  std::fill(critical_.begin(), critical_.end(), 0);
  for (uint32_t v : chain_.nodes()) critical_[v] = 1;
  loads_.sum(*problem_, device_of_, stop_);
  if (stopped(stop_)) return;
  runs_.index(*problem_, device_of_, order_, start_, stop_);
  if (stopped(stop_)) return;
  slack_.find({*problem_, device_of_, order_, start_, finish_}, makespan_us_, stop_);
  if (!stopped(stop_)) find_waits();
}

void PlacementState::find_waits() {
  for (uint32_t v = 0; v < problem_->node_count(); ++v) {
    const double arrival = last_input(*problem_, device_of_, finish_, v, stop_).arrival_us;
    wait_[v] = std::max(start_[v] - std::max(arrival, 0.0), 0.0);
    if (spend(stop_, 1 + problem_->graph().in_edges(v).size())) return;
  }
}

void PlacementState::note(uint32_t node, uint32_t device) {
  if (device_of_[node] == device) return;
  loads_.move(*problem_, node, device_of_[node], device);
  device_of_[node] = device;
}

}  // namespace placeto
