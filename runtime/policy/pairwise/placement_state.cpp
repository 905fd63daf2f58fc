#include "runtime/policy/pairwise/placement_state.h"

#include <algorithm>

namespace placeto {

PlacementState::PlacementState(const Problem& problem)
    : problem_(&problem),
      device_of_(problem.node_count()),
      start_(problem.node_count()),
      finish_(problem.node_count()),
      slack_(problem.node_count()),
      wait_(problem.node_count()),
      critical_(problem.node_count()),
      load_(problem.device_count()),
      egress_(problem.device_count()),
      held_(problem.device_count()),
      device_begin_(problem.device_count() + 1),
      device_start_(problem.node_count()),
      device_work_(problem.node_count() + problem.device_count()),
      latest_(problem.node_count()),
      next_on_device_(problem.device_count()) {
  const Graph& graph = problem.graph();
  double run = 0, transfer = 0;
  for (uint32_t v = 0; v < graph.node_count(); ++v) {
    run += problem.mean_run_us(v);
    for (const OutEdge& e : graph.out_edges(v)) transfer += problem.mean_transfer_us(e.output);
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
  makespan_us_ = std::max(*std::max_element(finish_.begin(), finish_.end()), 1e-9);
  evaluator.start_order(order_);
  if (spend(stop_, order_.size() / 4)) return;
  chain_.update(evaluator);
  if (stopped(stop_)) return;
  std::fill(critical_.begin(), critical_.end(), 0);
  for (uint32_t v : chain_.nodes()) critical_[v] = 1;
  index_devices();
  if (!stopped(stop_)) find_slack();
}

// Loads, channels, memory, and for every device its nodes in start order with the work before each.
void PlacementState::index_devices() {
  const Graph& graph = problem_->graph();
  const uint32_t devices = problem_->device_count();
  std::fill(load_.begin(), load_.end(), 0);
  std::fill(egress_.begin(), egress_.end(), 0);
  std::fill(held_.begin(), held_.end(), 0);
  std::fill(device_begin_.begin(), device_begin_.end(), 0);
  for (uint32_t v = 0; v < graph.node_count(); ++v) {
    const uint32_t device = device_of_[v];
    ++device_begin_[device + 1];
    load_[device] += problem_->run_us(v, device);
    held_[device] += static_cast<double>(graph.node(v).resident_bytes);
    for (uint32_t o = graph.output_begin(v); o < graph.output_end(v); ++o) {
      const auto consumers = graph.consumers(o);
      const auto elsewhere = std::find_if(consumers.begin(), consumers.end(),
                                          [&](uint32_t w) { return device_of_[w] != device; });
      if (elsewhere != consumers.end()) {
        egress_[device] += problem_->transfer_us(o, device, device_of_[*elsewhere]);
      }
    }
    if (spend(stop_, 1 + graph.out_edges(v).size())) return;
  }
  for (uint32_t d = 0; d < devices; ++d) device_begin_[d + 1] += device_begin_[d];
  // Row d of device_work_ has one entry more than there are nodes: it starts at begin[d] + d.
  std::vector<uint32_t>& end = device_end_;
  end.assign(device_begin_.begin(), device_begin_.end() - 1);
  for (uint32_t d = 0; d < devices; ++d) device_work_[device_begin_[d] + d] = 0;
  for (uint32_t v : order_) {
    const uint32_t d = device_of_[v], i = end[d]++;
    device_start_[i] = start_[v];
    device_work_[i + d + 1] = device_work_[i + d] + problem_->run_us(v, d);
    if (spend(stop_, 1)) return;
  }
}

double PlacementState::busy_us(uint32_t device, double from, double to) const {
  const auto first = device_start_.begin() + device_begin_[device];
  const auto last = device_start_.begin() + device_begin_[device + 1];
  const auto a = std::lower_bound(first, last, from) - first;
  const auto b = std::lower_bound(first, last, to) - first;
  const double* work = device_work_.data() + device_begin_[device] + device;
  return b > a ? work[b] - work[a] : 0;
}

// Backwards in start order: a node may finish as late as its successors and the next node on its
// device allow.
void PlacementState::find_slack() {
  const Graph& graph = problem_->graph();
  const double gap_us = problem_->topology().spec().op_gap_us;
  std::fill(next_on_device_.begin(), next_on_device_.end(), makespan_us_ + gap_us);
  for (auto it = order_.rbegin(); it != order_.rend(); ++it) {
    const uint32_t v = *it, device = device_of_[v];
    double latest = std::min(makespan_us_, next_on_device_[device] - gap_us);
    for (const OutEdge& e : graph.out_edges(v)) {
      const double transfer = e.output == kControlEdge
                                  ? 0
                                  : problem_->transfer_us(e.output, device, device_of_[e.target]);
      latest = std::min(latest, latest_[e.target] - transfer);
    }
    const double run = finish_[v] - start_[v];
    latest_[v] = std::max(latest - run, 0.0);  // latest start
    slack_[v] = std::max(latest - finish_[v], 0.0);
    next_on_device_[device] = latest_[v];
    double arrival = 0;
    for (const InEdge& in : graph.in_edges(v)) {
      const double transfer = in.output == kControlEdge
                                  ? 0
                                  : problem_->transfer_us(in.output, device_of_[in.source], device);
      arrival = std::max(arrival, finish_[in.source] + transfer);
    }
    wait_[v] = std::max(start_[v] - arrival, 0.0);
    if (spend(stop_, 1 + graph.out_edges(v).size() + graph.in_edges(v).size())) return;
  }
}

void PlacementState::note(uint32_t node, uint32_t device) {
  const uint32_t old = device_of_[node];
  if (old == device) return;
  const auto bytes = static_cast<double>(problem_->graph().node(node).resident_bytes);
  load_[old] -= problem_->run_us(node, old);
  load_[device] += problem_->run_us(node, device);
  held_[old] -= bytes;
  held_[device] += bytes;
  device_of_[node] = device;
}

}  // namespace placeto
