#include "runtime/heuristics/list_schedule.h"

#include <algorithm>

#include "runtime/timeline/queues.h"

namespace placeto {

ListSchedule::ListSchedule(const Problem& problem, Stop* stop)
    : problem_(&problem),
      stop_(stop),
      apart_(arrives_apart(problem)),
      contended_(problem.topology().spec().contention == Contention::kEgress),
      device_free_(problem.device_count()),
      channel_free_(problem.topology().channel_count()),
      finish_(problem.node_count()),
      device_of_(problem.node_count()),
      uniform_us_(problem.topology().uniform_links()
                      ? problem.event_tables().uniform_transfer_us.data()
                      : nullptr) {}

void ListSchedule::clear() {
  std::fill(device_free_.begin(), device_free_.end(), 0);
  std::fill(channel_free_.begin(), channel_free_.end(), 0);
  const size_t slots =
      size_t{problem_->graph().output_count()} * (apart_ ? problem_->device_count() : 1);
  if (assign(arrived_, slots, kNotSent, stop_)) return;
  std::fill(device_of_.begin(), device_of_.end(), kNoIndex);
}

void ListSchedule::ready_times(uint32_t node, std::span<double> ready) const {
  const uint32_t devices = problem_->device_count();
  const auto in_edges = problem_->graph().in_edges(node);
  if (uniform_us_ != nullptr && !apart_) return ready_by_latest_two(in_edges, ready);
  std::fill(ready.begin(), ready.end(), 0);
  for (const InEdge& in : watched(in_edges, stop_, devices)) {
    const uint32_t source = device_of_[in.source];
    if (source == kNoIndex) continue;
    const double finish = finish_[in.source];
    for (uint32_t d = 0; d < devices; ++d) {
      const bool moves = source != d && in.output != kControlEdge;
      ready[d] = std::max(ready[d], moves ? arrival_us(in.source, in.output, source, d) : finish);
    }
  }
}

// Links alike and one transfer for all: what comes from one device arrives everywhere else at the
// same time, so the two latest sources answer for every device.
void ListSchedule::ready_by_latest_two(std::span<const InEdge> in_edges,
                                       std::span<double> ready) const {
  const bool can_move = ready.size() > 1;
  double everywhere = 0, latest = 0, second = 0;  // second: of another device than the latest
  uint32_t from = 0;
  std::fill(ready.begin(), ready.end(), 0);
  for (const InEdge& in : watched(in_edges, stop_)) {
    const uint32_t source = device_of_[in.source];
    if (source == kNoIndex) continue;
    const double finish = finish_[in.source];
    ready[source] = std::max(ready[source], finish);
    if (in.output == kControlEdge || !can_move) {
      everywhere = std::max(everywhere, finish);
      continue;
    }
    const double arrival = arrival_us(in.source, in.output, source, source == 0 ? 1 : 0);
    if (source == from) {
      latest = std::max(latest, arrival);
    } else if (arrival > latest) {
      second = latest;
      latest = arrival;
      from = source;
    } else {
      second = std::max(second, arrival);
    }
  }
  const double on_from = std::max({everywhere, second, ready[from]});
  const double on_others = std::max(everywhere, latest);
  for (double& us : ready) us = std::max(us, on_others);
  ready[from] = on_from;
}

void ListSchedule::place(uint32_t node, uint32_t device) {
  double start = device_free_[device];
  for (const InEdge& in : watched(problem_->graph().in_edges(node), stop_)) {
    const uint32_t source = device_of_[in.source];
    if (source == kNoIndex) continue;
    if (source == device || in.output == kControlEdge) {
      start = std::max(start, finish_[in.source]);
    } else {
      start = std::max(start, send(in.source, in.output, source, device));
    }
  }
  const double run = problem_->run_us(node, device);
  device_of_[node] = device;
  finish_[node] = start + run;
  device_free_[device] = finish_[node] + problem_->gap_after_us(run);
}

}  // namespace placeto
