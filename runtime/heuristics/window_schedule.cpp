#include "runtime/heuristics/window_schedule.h"

#include <algorithm>
#include <limits>
#include <numeric>

namespace placeto {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

}  // namespace

void WindowSchedule::Rows::assign(std::span<const uint32_t> owner, uint32_t owners) {
  begin.assign(owners + 1, 0);
  items.resize(owner.size());
  for (uint32_t o : owner) ++begin[o];
  std::partial_sum(begin.begin(), begin.end(), begin.begin());
  for (auto i = static_cast<uint32_t>(owner.size()); i-- > 0;) items[--begin[owner[i]]] = i;
}

uint32_t WindowSchedule::Rows::first_from(uint32_t owner, uint32_t index) const {
  const auto row = items.begin();
  return static_cast<uint32_t>(std::lower_bound(row + begin[owner], row + begin[owner + 1], index) -
                               row);
}

void WindowSchedule::load(std::span<const uint32_t> order, std::span<const uint32_t> assignment,
                          std::span<const double> start_us, std::span<const double> finish_us) {
  clear();
  if (spend(stop_, order.size() / 2)) return;  // copied, not gone through
  base_.order.assign(order.begin(), order.end());
  base_.position.resize(order.size());
  base_.device.assign(assignment.begin(), assignment.end());
  base_.finish_us.assign(finish_us.begin(), finish_us.end());
  device_of_ = base_.device;
  finish_ = base_.finish_us;
  base_.makespan_us = *std::max_element(finish_us.begin(), finish_us.end());
  sends_.clear();
  send_begin_.clear();
  device_at_.clear();
  channel_.clear();
  for (uint32_t position = 0; position < order.size(); ++position) {
    base_.position[order[position]] = position;
    device_at_.push_back(assignment[order[position]]);
    if (!book_sends(position)) return;
  }
  send_begin_.push_back(static_cast<uint32_t>(sends_.size()));
  if (spend(stop_, Stop::looked_up(order.size()) + Stop::looked_up(sends_.size()))) return;
  on_device_.assign(device_at_, problem_->device_count());
  on_channel_.assign(channel_, problem_->topology().channel_count());
  if (keep_arrivals()) find_latest_in_order(start_us);
}

// What a node sends, in the order of its outputs. False once stopped.
bool WindowSchedule::book_sends(uint32_t position) {
  const Graph& graph = problem_->graph();
  const Topology& topology = problem_->topology();
  const uint32_t v = base_.order[position], device = device_of_[v];
  send_begin_.push_back(static_cast<uint32_t>(sends_.size()));
  for (uint32_t o = graph.output_begin(v); o < graph.output_end(v); ++o) {
    if (spend(stop_, 1 + graph.consumers(o).size())) return false;
    for (uint32_t w : watched(graph.consumers(o), stop_)) {
      const uint32_t to = device_of_[w];
      if (to == device || sent_slot(o, to) != kNotSent) continue;
      send(v, o, device, to);
      if (!contended_) continue;
      const uint32_t channel = topology.channel(device, to);
      channel_.push_back(channel);
      sends_.push_back({o, to, channel_free_[channel], 0});
    }
  }
  return !spend(stop_, 1);
}

// False once stopped.
bool WindowSchedule::keep_arrivals() {
  constexpr size_t kPiece = size_t{1} << 16;
  base_.arrived_us.reserve(arrived_.size());
  for (size_t begin = 0; begin < arrived_.size(); begin += kPiece) {
    const size_t end = std::min(begin + kPiece, arrived_.size());
    if (base_.arrived_us.size() < end) base_.arrived_us.resize(end);
    std::copy(arrived_.begin() + begin, arrived_.begin() + end, base_.arrived_us.begin() + begin);
    if (spend(stop_, Stop::copied(kPiece))) return false;
  }
  return true;
}

// From the end: a node has to be through before what is next on its device and what reads it, a
// transfer before its readers and what is next on its channel. False once stopped.
bool WindowSchedule::find_latest_in_order(std::span<const double> start_us) {
  const Graph& graph = problem_->graph();
  const double gap = problem_->topology().spec().op_gap_us;
  base_.latest_start_us.resize(base_.order.size());
  due_behind_us_.resize(problem_->device_count());
  scratch_.next_node_us.assign(problem_->device_count(), kInfinity);
  scratch_.next_send_us.assign(channel_free_.size(), kInfinity);
  scratch_.due_us.assign(problem_->device_count(), kInfinity);
  for (auto position = static_cast<uint32_t>(base_.order.size()); position-- > 0;) {
    const uint32_t v = base_.order[position], device = base_.device[v];
    const double run = base_.finish_us[v] - start_us[v];
    double finish_by =
        std::min(base_.makespan_us, scratch_.next_node_us[device] - (run == 0 ? 0 : gap));
    for (const OutEdge& out : watched(graph.out_edges(v), stop_)) {
      const uint32_t there = base_.device[out.target];
      double due = base_.latest_start_us[out.target];
      if (out.output != kControlEdge && there != device) {
        if (contended_) continue;  // by its send
        due -= transfer_with_latency_us(out.output, device, there);
      }
      finish_by = std::min(finish_by, due);
    }
    // Sends of one output lie together.
    for (uint32_t last = send_begin_[position + 1], first; last > send_begin_[position];
         last = first) {
      first = last - 1;
      while (first > send_begin_[position] && sends_[first - 1].output == sends_[last - 1].output) {
        --first;
      }
      finish_by = std::min(finish_by, latest_send_us(first, last));
    }
    base_.latest_start_us[v] = scratch_.next_node_us[device] = finish_by - run;
    if (spend(stop_, 1 + 2 * graph.out_edges(v).size())) return false;
  }
  return true;
}

// The latest start of the first of the sends [first, last) of an output, which get theirs.
double WindowSchedule::latest_send_us(uint32_t first, uint32_t last) {
  const Topology& topology = problem_->topology();
  const uint32_t output = sends_[first].output;
  const uint32_t device = base_.device[problem_->graph().producer(output)];
  double latest = kInfinity;
  for (uint32_t w : watched(problem_->graph().consumers(output), stop_)) {
    const uint32_t there = base_.device[w];
    if (there == device) continue;
    double& due = scratch_.due_us[unicast_ ? there : sends_[first].destination];
    due = std::min(due, base_.latest_start_us[w]);
  }
  for (uint32_t s = last; s-- > first;) {
    const uint32_t to = sends_[s].destination, channel = topology.channel(device, to);
    double& next = scratch_.next_send_us[channel];
    next = std::min(scratch_.due_us[to] - transfer_with_latency_us(output, device, to),
                    next - topology.link(device, to).gap_us - transfer_us(output, device, to));
    sends_[s].latest_start_us = next;
    scratch_.due_us[to] = kInfinity;
    latest = std::min(latest, next);
  }
  return latest;
}

void WindowSchedule::open(Window window) {
  window_ = window;
  const double gap = problem_->topology().spec().op_gap_us;
  for (uint32_t d = 0; d < on_device_.size(); ++d) {
    if (spend(stop_, 1)) return;
    const uint32_t next = on_device_.first_from(d, window.begin);
    const uint32_t behind = on_device_.first_from(d, window.end);
    due_behind_us_[d] = behind == on_device_.begin[d + 1]
                            ? kInfinity
                            : base_.latest_start_us[base_.order[on_device_.items[behind]]];
    device_free_[d] = 0;
    if (next == on_device_.begin[d]) continue;
    const uint32_t v = base_.order[on_device_.items[next - 1]];
    device_free_[d] = base_.finish_us[v] + (problem_->run_us(v, d) == 0 ? 0 : gap);
  }
  for (uint32_t c = 0; c < on_channel_.size(); ++c) {
    if (spend(stop_, 1)) return;
    const uint32_t next = on_channel_.first_from(c, send_begin_[window.begin]);
    const bool first = next == on_channel_.begin[c];
    channel_free_[c] = first ? 0 : sends_[on_channel_.items[next - 1]].free_us;
  }
  const Graph& graph = problem_->graph();
  for (uint32_t position = window.begin; position < window.end; ++position) {
    const uint32_t v = base_.order[position];
    for (uint32_t o = graph.output_begin(v); o < graph.output_end(v); ++o) {
      const auto slots = arrivals(o);
      std::fill(slots.begin(), slots.end(), kNotSent);
      if (spend(stop_, 1 + Stop::copied(slots.size()))) return;
    }
  }
}

void WindowSchedule::restore(std::span<double> slots) {
  const auto from = base_.arrived_us.begin() + (slots.data() - arrived_.data());
  std::copy_n(from, slots.size(), slots.begin());
}

void WindowSchedule::close() {
  const Graph& graph = problem_->graph();
  for (const uint32_t v : carried_) {
    device_of_[v] = base_.device[v];
    finish_[v] = base_.finish_us[v];
  }
  carried_.clear();
  for (uint32_t position = window_.begin; position < window_.end; ++position) {
    const uint32_t v = base_.order[position];
    for (const InEdge& in : watched(graph.in_edges(v), stop_)) {
      if (in.output != kControlEdge) restore({&sent_slot(in.output, device_of_[v]), 1});
    }
    for (uint32_t o = graph.output_begin(v); o < graph.output_end(v); ++o) {
      restore(arrivals(o));
      if (spend(stop_, Stop::copied(arrivals(o).size()))) return;
    }
    device_of_[v] = base_.device[v];
    finish_[v] = base_.finish_us[v];
    if (spend(stop_, 1 + graph.in_edges(v).size())) return;
  }
}

bool WindowSchedule::is_late(uint32_t node, double late_us) const {
  const uint32_t device = device_of_[node];
  return device_free_[device] - due_behind_us_[device] >= late_us ||
         finish_[node] - base_.makespan_us >= late_us;
}

// Of what reads the node at `end` and behind.
double WindowSchedule::lateness_of_us(uint32_t node, uint32_t end,
                                      std::span<const uint32_t> group_device) {
  const uint32_t device = device_of_[node];
  double latest = -kInfinity;
  for (const OutEdge& out : watched(problem_->graph().out_edges(node), stop_)) {
    if (base_.position[out.target] < end) continue;
    const uint32_t moved = group_device[problem_->group_of(out.target)];
    const uint32_t there = moved == kNoIndex ? base_.device[out.target] : moved;
    double arrival = finish_[node];
    if (out.output != kControlEdge && there != device) {
      double& slot = sent_slot(out.output, there);
      if (slot == kNotSent) {
        slot = send_now(node, out.output, device, there);
        scratch_.sent.push_back(static_cast<uint32_t>(&slot - arrived_.data()));
      }
      arrival = slot;
    }
    latest = std::max(latest, arrival - base_.latest_start_us[out.target]);
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

// Of what is next on devices.
double WindowSchedule::lateness_of_devices_us(uint32_t end) const {
  double latest = -kInfinity;
  for (uint32_t d = 0; d < on_device_.size(); ++d) {
    if (spend(stop_, 1)) return latest;
    const uint32_t next = on_device_.first_from(d, end);
    if (next == on_device_.begin[d + 1]) continue;
    const uint32_t v = base_.order[on_device_.items[next]];
    latest = std::max(latest, device_free_[d] - base_.latest_start_us[v]);
  }
  return latest;
}

// Of what reads the window, of the end of the run, and then of what is next on channels.
double WindowSchedule::lateness_of_transfers_us(uint32_t end,
                                                std::span<const uint32_t> group_device,
                                                double enough_us) {
  const Graph& graph = problem_->graph();
  double latest = -kInfinity;
  for (uint32_t position = window_.begin; position < end; ++position) {
    const uint32_t v = base_.order[position];
    if (spend(stop_, 1 + graph.out_edges(v).size())) return latest;
    latest =
        std::max({latest, finish_[v] - base_.makespan_us, lateness_of_us(v, end, group_device)});
    if (latest >= enough_us) return latest;
  }
  for (const uint32_t v : carried_) {
    const uint32_t position = base_.position[v];
    if (position >= window_.begin && position < end) continue;
    if (spend(stop_, 1 + graph.out_edges(v).size())) return latest;
    latest = std::max(latest, lateness_of_us(v, end, group_device));
  }
  for (uint32_t c = 0; c < on_channel_.size() && latest < enough_us; ++c) {
    if (spend(stop_, 1)) return latest;
    const uint32_t next = on_channel_.first_from(c, send_begin_[end]);
    if (next == on_channel_.begin[c + 1]) continue;
    latest = std::max(latest, channel_free_[c] - sends_[on_channel_.items[next]].latest_start_us);
  }
  return latest;
}

}  // namespace placeto
