#include "runtime/timeline/move_estimate.h"

#include <algorithm>

#include "runtime/base/stoppable_sort.h"
#include "runtime/cost/rounding.h"

namespace placeto {

static bool is_waited_for(const Queues& run, uint32_t node) {
  return run.slack_us(node) <= kRounding * run.makespan_us();
}

MoveEstimate::MoveEstimate(const Problem& problem)
    : problem_(problem),
      finish_us_(problem.node_count(), kNever),
      on_channel_(problem.topology().channel_count()) {}

bool MoveEstimate::is_waited_for(const Queues& run, std::span<const uint32_t> nodes, Stop* stop) {
  spend(stop, Stop::looked_up(nodes.size()));
  for (const uint32_t v : watched(nodes, stop)) {
    if (placeto::is_waited_for(run, v)) return true;
  }
  return false;
}

double MoveEstimate::change_us(const Queues& run, std::span<const uint32_t> nodes, uint32_t device,
                               double enough_us, Stop* stop) {
  run_ = &run;
  stop_ = stop;
  late_us_ = -kNever;
  if (!forget_last()) return kNever;
  const bool waited_for = take(nodes, device);
  if (waited_for || enough_us > 0) put_in(device, enough_us);
  for (const uint32_t v : moved_) finish_us_[v] = kNever;
  return waited_for ? late_us_ : std::max(late_us_, 0.0);
}

// False if stopped.
bool MoveEstimate::forget_last() {
  on_device_ = {};
  for (const uint32_t c : channels_) on_channel_[c] = {};
  channels_.clear();
  if (arrival_at_.size() != run_->slot_count()) {
    return !assign(arrival_at_, run_->slot_count(), kNoIndex, stop_);
  }
  for (const Arrival& arrival : watched(arrivals_, stop_)) arrival_at_[arrival.slot] = kNoIndex;
  arrivals_.clear();
  return true;
}

// Whether the makespan waits for one of the nodes that move.
bool MoveEstimate::take(std::span<const uint32_t> nodes, uint32_t device) {
  moved_.clear();
  bool waited_for = false;
  for (const uint32_t v : watched(nodes, stop_)) {
    if (run_->device_of(v) == device) continue;
    moved_.push_back(v);
    finish_us_[v] = 0;  // it moves, too
    waited_for |= placeto::is_waited_for(*run_, v);
  }
  spend(stop_, nodes.size());
  return waited_for;
}

// The moved nodes, one after the other.
void MoveEstimate::put_in(uint32_t device, double enough_us) {
  stoppable_sort(
      moved_.begin(), moved_.end(),
      [this](uint32_t a, uint32_t b) { return run_->position(a) < run_->position(b); }, stop_);
  for (const uint32_t v : moved_) {
    const double run_us = problem_.run_us(v, device);
    const double finish_us = insert(run_->on_device(device), ready_us(v, device), run_us,
                                    problem_.gap_after_us(run_us), on_device_);
    finish_us_[v] = finish_us;
    late_us_ = std::max(late_us_, finish_us - run_->makespan_us());
    read(v, device, finish_us);
    if (late_us_ >= enough_us) break;
  }
}

// When everything that the node reads is there.
double MoveEstimate::ready_us(uint32_t node, uint32_t device) {
  double ready_us = 0;
  const auto in_edges = problem_.graph().in_edges(node);
  for (const InEdge& in : watched(in_edges, stop_)) {
    const uint32_t from = run_->device_of(in.source);
    const bool moves = finish_us_[in.source] != kNever;
    double there_us = moves ? finish_us_[in.source] : run_->finish_us(in.source);
    if (in.output != kControlEdge && !moves && from != device) {
      const Queues::Send* const sent = run_->send_to(in.output, device);
      there_us = sent != nullptr ? sent->arrival_us : send(in.output, from, device, there_us);
    }
    ready_us = std::max(ready_us, there_us);
  }
  spend(stop_, 1 + in_edges.size());
  return ready_us;
}

// Behind what starts before it is ready, and behind what was put in before; when it ends. What is
// behind starts later for it, but for the time that it would have waited.
double MoveEstimate::insert(std::span<const Queues::Entry> queue, double ready_us, double busy_us,
                            double gap_us, Inserted& inserted) {
  const size_t next = inserted.next + Queues::count_before(queue.subspan(inserted.next),
                                                           [ready_us](const Queues::Entry& entry) {
                                                             return entry.start_us <= ready_us;
                                                           });
  if (inserted.any && next > inserted.next) {
    const size_t last = std::min(next, queue.size() - 1);
    const double idle_us = queue[last].idle_us - queue[inserted.next].idle_us;
    inserted.delay_us = std::max(0.0, inserted.delay_us - idle_us);
  }
  double start_us = std::max(ready_us, inserted.free_us);
  if (next > 0) start_us = std::max(start_us, queue[next - 1].free_us + inserted.delay_us);
  const double free_us = start_us + busy_us + gap_us;
  inserted = {next, free_us, 0, true};
  if (next < queue.size()) {
    inserted.delay_us = std::max(0.0, free_us - queue[next].start_us);
    late_us_ = std::max(late_us_, free_us - queue[next].latest_start_us);
  }
  return start_us + busy_us;
}

// When it arrives.
double MoveEstimate::send(uint32_t output, uint32_t from, uint32_t to, double ready_us) {
  const size_t slot = run_->slot(output, to);
  uint32_t& index = arrival_at_[slot];
  if (index != kNoIndex) return arrivals_[index].us;
  index = static_cast<uint32_t>(arrivals_.size());
  const LinkParameters& link = problem_.topology().link(from, to);
  const double transfer_us = problem_.transfer_us(output, from, to);
  double arrival_us = ready_us + transfer_us;
  if (problem_.topology().spec().contention == Contention::kEgress) {
    const uint32_t channel = problem_.topology().channel(from, to);
    Inserted& inserted = on_channel_[channel];
    if (!inserted.any) channels_.push_back(channel);
    arrival_us = insert(run_->on_channel(channel), ready_us, transfer_us, link.gap_us, inserted);
  }
  arrival_us += problem_.topology().latency_us(from, to);
  arrivals_.push_back({slot, arrival_us});
  return arrival_us;
}

// What reads a moved node and stays.
void MoveEstimate::read(uint32_t node, uint32_t device, double finish_us) {
  const auto out_edges = problem_.graph().out_edges(node);
  for (const OutEdge& out : watched(out_edges, stop_)) {
    if (finish_us_[out.target] != kNever) continue;
    const uint32_t there = run_->device_of(out.target);
    const bool sent = out.output != kControlEdge && there != device;
    const double arrival_us = sent ? send(out.output, device, there, finish_us) : finish_us;
    late_us_ = std::max(late_us_, arrival_us - run_->latest_start_us(out.target));
  }
  spend(stop_, 1 + out_edges.size());
}

}  // namespace placeto
