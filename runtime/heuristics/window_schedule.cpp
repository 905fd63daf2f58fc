#include "runtime/heuristics/window_schedule.h"

#include <algorithm>

namespace placeto {
namespace {

// How many entries are before `item`.
size_t count_before(std::span<const Queues::Entry> queue, uint32_t item) {
  return Queues::count_before(queue,
                              [item](const Queues::Entry& entry) { return entry.item < item; });
}
double free_before(std::span<const Queues::Entry> queue, uint32_t item) {
  const size_t next = count_before(queue, item);
  return next == 0 ? 0 : queue[next - 1].free_us;
}
double latest_from(std::span<const Queues::Entry> queue, uint32_t item) {
  const size_t next = count_before(queue, item);
  return next == queue.size() ? kNever : queue[next].latest_start_us;
}

}  // namespace

void WindowSchedule::load(const Queues& run) {
  run_ = &run;
  clear();
  for (uint32_t v = 0; v < problem_->node_count(); ++v) {
    device_of_[v] = run.device_of(v);
    finish_[v] = run.finish_us(v);
  }
  if (spend(stop_, Stop::looked_up(problem_->node_count()))) return;
  due_behind_us_.resize(problem_->device_count());
  for (const Queues::Send& send : run.sends()) {
    sent_slot(send.output, send.destination) = send.arrival_us;
  }
  spend(stop_, Stop::looked_up(run.sends().size()));
}

void WindowSchedule::open(Window window) {
  window_ = window;
  for (uint32_t d = 0; d < problem_->device_count(); ++d) {
    if (spend(stop_, 1)) return;
    device_free_[d] = free_before(run_->on_device(d), window.begin);
    due_behind_us_[d] = latest_from(run_->on_device(d), window.end);
  }
  const uint32_t first_send = run_->first_send(window.begin);
  for (uint32_t c = 0; c < problem_->topology().channel_count(); ++c) {
    if (spend(stop_, 1)) return;
    channel_free_[c] = free_before(run_->on_channel(c), first_send);
  }
  const Graph& graph = problem_->graph();
  for (uint32_t position = window.begin; position < window.end; ++position) {
    const uint32_t v = run_->node_at(position);
    for (uint32_t o = graph.output_begin(v); o < graph.output_end(v); ++o) {
      const auto slots = arrivals(o);
      std::fill(slots.begin(), slots.end(), kNotSent);
      if (spend(stop_, 1 + Stop::copied(slots.size()))) return;
    }
  }
}

void WindowSchedule::restore(uint32_t output, uint32_t device) {
  const Queues::Send* const send = run_->send_to(output, device);
  sent_slot(output, device) = send == nullptr ? kNotSent : send->arrival_us;
}

void WindowSchedule::close() {
  const Graph& graph = problem_->graph();
  for (const uint32_t v : carried_) {
    device_of_[v] = run_->device_of(v);
    finish_[v] = run_->finish_us(v);
  }
  carried_.clear();
  for (uint32_t position = window_.begin; position < window_.end; ++position) {
    const uint32_t v = run_->node_at(position);
    for (const InEdge& in : watched(graph.in_edges(v), stop_)) {
      if (in.output != kControlEdge) restore(in.output, device_of_[v]);
    }
    const auto slots = static_cast<uint32_t>(arrivals(0).size());
    for (uint32_t o = graph.output_begin(v); o < graph.output_end(v); ++o) {
      for (uint32_t d = 0; d < slots; ++d) restore(o, d);
      if (spend(stop_, 1 + Stop::looked_up(slots))) return;
    }
    device_of_[v] = run_->device_of(v);
    finish_[v] = run_->finish_us(v);
    if (spend(stop_, 1 + graph.in_edges(v).size())) return;
  }
}

bool WindowSchedule::is_late(uint32_t node, double late_us) const {
  const uint32_t device = device_of_[node];
  return device_free_[device] - due_behind_us_[device] >= late_us ||
         finish_[node] - run_->makespan_us() >= late_us;
}

// How late what reads the node, at `end` and behind, would be.
double WindowSchedule::lateness_of_us(uint32_t node, uint32_t end,
                                      std::span<const uint32_t> group_device) {
  const uint32_t device = device_of_[node];
  double latest = -kNever;
  for (const OutEdge& out : watched(problem_->graph().out_edges(node), stop_)) {
    if (run_->position(out.target) < end) continue;
    const uint32_t moved = group_device[problem_->group_of(out.target)];
    const uint32_t there = moved == kNoIndex ? run_->device_of(out.target) : moved;
    double arrival = finish_[node];
    if (out.output != kControlEdge && there != device) {
      double& slot = sent_slot(out.output, there);
      if (slot == kNotSent) {
        slot = send_now(node, out.output, device, there);
        scratch_.sent.push_back(static_cast<uint32_t>(&slot - arrived_.data()));
      }
      arrival = slot;
    }
    latest = std::max(latest, arrival - run_->latest_start_us(out.target));
  }
  return latest;
}

double WindowSchedule::lateness_behind_us(uint32_t end, std::span<const uint32_t> group_device,
                                          double enough_us) {
  double latest = lateness_of_devices_us(end);
  if (latest >= enough_us) return latest;
  scratch_.kept_channel_free = channel_free_;
  scratch_.sent.clear();
  latest = std::max(latest, lateness_of_transfers_us(end, group_device, enough_us));
  channel_free_ = scratch_.kept_channel_free;
  for (uint32_t slot : scratch_.sent) arrived_[slot] = kNotSent;
  return latest;
}

// How late what is next on devices would be.
double WindowSchedule::lateness_of_devices_us(uint32_t end) const {
  double latest = -kNever;
  for (uint32_t d = 0; d < problem_->device_count(); ++d) {
    if (spend(stop_, 1)) return latest;
    latest = std::max(latest, device_free_[d] - latest_from(run_->on_device(d), end));
  }
  return latest;
}

// How late what reads the window, the end of the run, and then what is next on channels would be.
double WindowSchedule::lateness_of_transfers_us(uint32_t end,
                                                std::span<const uint32_t> group_device,
                                                double enough_us) {
  const Graph& graph = problem_->graph();
  double latest = -kNever;
  for (uint32_t position = window_.begin; position < end; ++position) {
    const uint32_t v = run_->node_at(position);
    if (spend(stop_, 1 + graph.out_edges(v).size())) return latest;
    latest =
        std::max({latest, finish_[v] - run_->makespan_us(), lateness_of_us(v, end, group_device)});
    if (latest >= enough_us) return latest;
  }
  for (const uint32_t v : carried_) {
    const uint32_t position = run_->position(v);
    if (position >= window_.begin && position < end) continue;
    if (spend(stop_, 1 + graph.out_edges(v).size())) return latest;
    latest = std::max(latest, lateness_of_us(v, end, group_device));
  }
  const uint32_t first_send = run_->first_send(end);
  for (uint32_t c = 0; c < problem_->topology().channel_count() && latest < enough_us; ++c) {
    if (spend(stop_, 1)) return latest;
    latest = std::max(latest, channel_free_[c] - latest_from(run_->on_channel(c), first_send));
  }
  return latest;
}

}  // namespace placeto
