#include "runtime/heuristics/list_schedule.h"

#include <algorithm>

namespace placeto {
namespace {

// Beyond this many (output, device) pairs a unicast schedule remembers one arrival per output, as
// under broadcast: slightly optimistic, but bounded.
constexpr size_t kMostArrivals = size_t{1} << 24;

}  // namespace

ListSchedule::ListSchedule(const Problem& problem, Stop* stop)
    : problem_(&problem),
      stop_(stop),
      unicast_(problem.topology().spec().transfer == Transfer::kUnicast &&
               size_t{problem.graph().output_count()} * problem.device_count() <= kMostArrivals),
      contended_(problem.topology().spec().contention == Contention::kEgress),
      device_free_(problem.device_count()),
      channel_free_(problem.topology().channel_count()),
      finish_(problem.node_count()),
      device_of_(problem.node_count()),
      from_(problem.device_count()),
      here_(problem.device_count()) {}

void ListSchedule::clear() {
  std::fill(device_free_.begin(), device_free_.end(), 0);
  std::fill(channel_free_.begin(), channel_free_.end(), 0);
  const size_t slots =
      size_t{problem_->graph().output_count()} * (unicast_ ? problem_->device_count() : 1);
  constexpr size_t kPiece = size_t{1} << 16;
  arrived_.clear();
  arrived_.reserve(slots);
  while (arrived_.size() < slots) {
    arrived_.resize(std::min(slots, arrived_.size() + kPiece), kNotSent);
    if (spend(stop_, Stop::copied(kPiece))) return;
  }
  std::fill(device_of_.begin(), device_of_.end(), kNoIndex);
}

double ListSchedule::arrival_us(uint32_t output, uint32_t source, uint32_t destination) const {
  const double known = sent_slot(output, destination);
  if (known != kNotSent) return known;
  const Topology& topology = problem_->topology();
  double start = finish_[problem_->graph().producer(output)];
  if (contended_) start = std::max(start, channel_free_[topology.channel(source, destination)]);
  return start + transfer_with_latency_us(output, source, destination);
}

double ListSchedule::transfer_with_latency_us(uint32_t output, uint32_t source,
                                              uint32_t destination) const {
  const double transfer = problem_->transfer_us(output, source, destination);
  return unicast_ ? transfer + problem_->topology().link(source, destination).latency_us : transfer;
}

void ListSchedule::ready_times(uint32_t node, std::span<double> ready) const {
  const uint32_t devices = problem_->device_count();
  const auto in_edges = problem_->graph().in_edges(node);
  if (!problem_->topology().uniform_links()) {
    for (uint32_t d = 0; d < devices; ++d) {
      ready[d] = 0;
      for (const InEdge& in : watched(in_edges, stop_)) {
        const uint32_t source = device_of_[in.source];
        if (source == kNoIndex) continue;
        const bool moves = source != d && in.output != kControlEdge;
        ready[d] =
            std::max(ready[d], moves ? arrival_us(in.output, source, d) : finish_[in.source]);
      }
    }
    return;
  }
  // Links alike: what comes from one device arrives everywhere else at the same time, so the two
  // latest sources answer for every device.
  double control = 0;
  std::fill(from_.begin(), from_.end(), 0);
  std::fill(here_.begin(), here_.end(), 0);
  for (const InEdge& in : watched(in_edges, stop_, unicast_ ? devices : 1)) {
    const uint32_t source = device_of_[in.source];
    if (source == kNoIndex) continue;
    if (in.output == kControlEdge) {
      control = std::max(control, finish_[in.source]);
      continue;
    }
    here_[source] = std::max(here_[source], finish_[in.source]);
    if (devices == 1) continue;
    if (unicast_) {
      for (uint32_t d = 0; d < devices; ++d) {
        if (d != source) from_[d] = std::max(from_[d], arrival_us(in.output, source, d));
      }
    } else {
      from_[source] = std::max(from_[source], arrival_us(in.output, source, source == 0 ? 1 : 0));
    }
  }
  if (unicast_) {  // from_ is already by destination
    for (uint32_t d = 0; d < devices; ++d) ready[d] = std::max({control, here_[d], from_[d]});
    return;
  }
  uint32_t latest = 0;
  double second = 0;
  for (uint32_t d = 1; d < devices; ++d) {
    if (from_[d] > from_[latest]) latest = d;
  }
  for (uint32_t d = 0; d < devices; ++d) {
    if (d != latest) second = std::max(second, from_[d]);
  }
  for (uint32_t d = 0; d < devices; ++d) {
    ready[d] = std::max({control, here_[d], d == latest ? second : from_[latest]});
  }
}

void ListSchedule::send(uint32_t output, uint32_t source, uint32_t destination) {
  if (sent_slot(output, destination) != kNotSent) return;
  const Topology& topology = problem_->topology();
  const double arrival = arrival_us(output, source, destination);
  sent_slot(output, destination) = arrival;
  if (!contended_) return;
  const LinkParameters& link = topology.link(source, destination);
  channel_free_[topology.channel(source, destination)] =
      arrival - (unicast_ ? link.latency_us : 0) + link.gap_us;
}

void ListSchedule::place(uint32_t node, uint32_t device) {
  double start = device_free_[device];
  for (const InEdge& in : watched(problem_->graph().in_edges(node), stop_)) {
    const uint32_t source = device_of_[in.source];
    if (source == kNoIndex) continue;
    if (source == device || in.output == kControlEdge) {
      start = std::max(start, finish_[in.source]);
    } else {
      start = std::max(start, arrival_us(in.output, source, device));
      send(in.output, source, device);
    }
  }
  const double run = problem_->run_us(node, device);
  device_of_[node] = device;
  finish_[node] = start + run;
  device_free_[device] = finish_[node] + (run == 0 ? 0 : problem_->topology().spec().op_gap_us);
}

}  // namespace placeto
