#include "runtime/search/peak_memory.h"

namespace placeto {

PeakMemory::PeakMemory(const Problem& problem, Stop* stop)
    : problem_(&problem),
      stop_(stop),
      meter_(problem, stop),
      readers_(problem.graph().output_count()),
      leaving_(problem.graph().output_count(), 0),
      has_arrived_(problem.graph().output_count()),
      leaves_(problem.node_count(), false) {}

void PeakMemory::load(std::span<const uint32_t> assignment, const Timeline& timeline) {
  assignment_ = assignment;
  timeline_ = &timeline;
  meter_.peaks(assignment, timeline, peak_);
}

double PeakMemory::excess_bytes(uint32_t device) const {
  return static_cast<double>(peak_[device]) - static_cast<double>(problem_->memory_limit(device));
}

void PeakMemory::look_at(uint32_t device) {
  device_ = device;
  peak_end_us_ = meter_.peak_end_us(device);
  std::fill(readers_.begin(), readers_.end(), 0);
  std::fill(has_arrived_.begin(), has_arrived_.end(), false);
  for (const TransferSlice& transfer : watched(timeline_->transfers, stop_)) {
    if (transfer.destination != device && transfer.destination != TransferSlice::kBroadcast) {
      continue;
    }
    if (transfer.arrival_us < peak_end_us_) has_arrived_[transfer.output] = true;
  }
  if (spend(stop_, timeline_->transfers.size())) return;
  const Graph& graph = problem_->graph();
  for (uint32_t v = 0; v < graph.node_count(); ++v) {
    if (spend(stop_, 1)) return;
    if (assignment_[v] != device || has_finished(v)) continue;
    for (const InEdge& in : watched(graph.in_edges(v), stop_)) {
      if (in.output != kControlEdge && is_there(in)) ++readers_[in.output];
    }
    spend(stop_, graph.in_edges(v).size());
  }
}

bool PeakMemory::is_there(const InEdge& in) const {
  return assignment_[in.source] == device_ ? has_started(in.source) : has_arrived_[in.output];
}

double PeakMemory::freed_bytes(std::span<const uint32_t> nodes) {
  const Graph& graph = problem_->graph();
  double bytes = 0;
  for (const uint32_t v : watched(nodes, stop_)) leaves_[v] = true;
  for (const uint32_t v : watched(nodes, stop_)) {
    const auto& node = graph.node(v);
    bytes += static_cast<double>(node.resident_bytes);
    if (has_finished(v)) continue;
    if (has_started(v)) {
      bytes += static_cast<double>(node.workspace_bytes);
      for (uint32_t o = graph.output_begin(v); o < graph.output_end(v); ++o) {
        if (readers_[o] == 0) bytes += output_bytes(o);
      }
    }
    for (const InEdge& in : watched(graph.in_edges(v), stop_)) {
      if (in.output == kControlEdge || ++leaving_[in.output] != readers_[in.output]) continue;
      const bool is_made = assignment_[in.source] == device_ && !leaves_[in.source];
      if (!is_made || has_finished(in.source)) bytes += output_bytes(in.output);
    }
    spend(stop_, 2 + graph.in_edges(v).size());
  }
  for (const uint32_t v : watched(nodes, stop_)) {
    leaves_[v] = false;
    for (const InEdge& in : watched(graph.in_edges(v), stop_)) {
      if (in.output != kControlEdge) leaving_[in.output] = 0;
    }
  }
  return bytes;
}

}  // namespace placeto
