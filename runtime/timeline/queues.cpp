#include "runtime/timeline/queues.h"

#include <algorithm>
#include <numeric>

namespace placeto {

// Makes room, when `begin` holds how many of each there are, one place behind.
void Queues::Rows::open(size_t count) {
  std::partial_sum(begin.begin(), begin.end(), begin.begin());
  end.assign(begin.begin(), begin.end() - 1);
  entries.grow_to(count);
}

uint32_t Queues::Rows::add(uint32_t owner, uint32_t item, double start_us, double free_us) {
  const uint32_t index = end[owner]++;
  Entry& entry = entries[index];
  entry = {item, start_us, free_us, kNever, start_us};
  if (index > begin[owner]) {
    const Entry& before = entries[index - 1];
    entry.idle_us = before.idle_us + std::max(0.0, start_us - before.free_us);
  }
  return index;
}

bool arrives_apart(const Problem& problem) {
  constexpr size_t kMostArrivals = size_t{1} << 24;
  return problem.topology().spec().transfer == Transfer::kUnicast &&
         size_t{problem.graph().output_count()} * problem.device_count() <= kMostArrivals;
}

Queues::Queues(const Problem& problem)
    : problem_(&problem),
      apart_(arrives_apart(problem)),
      contended_(problem.topology().spec().contention == Contention::kEgress) {}

void Queues::load(const SimulatedRun& run, Stop* stop) {
  if (spend(stop, run.order.size() / 2)) return;  // copied, not gone through
  order_.assign(run.order.begin(), run.order.end());
  makespan_us_ = *std::max_element(run.finish_us.begin(), run.finish_us.end());
  queue_nodes(run, stop);
  sends_.clear();
  first_send_.clear();
  channel_free_us_.assign(problem_->topology().channel_count(), 0);
  if (stopped(stop) || assign(send_at_, slot_count(), kNoIndex, stop)) return;
  sends_.reserve(std::min<size_t>(slot_count(), problem_->graph().edge_count()));
  for (uint32_t position = 0; position < order_.size() && !stopped(stop); ++position) {
    first_send_.push_back(static_cast<uint32_t>(sends_.size()));
    book_sends(position, run.assignment, stop);
  }
  first_send_.push_back(static_cast<uint32_t>(sends_.size()));
  if (!stopped(stop)) queue_sends(stop);
  if (!stopped(stop)) find_latest_starts_in_order(stop);
}

void Queues::queue_nodes(const SimulatedRun& run, Stop* stop) {
  devices_.begin.assign(problem_->device_count() + 1, 0);
  for (const uint32_t device : run.assignment) ++devices_.begin[device + 1];
  devices_.open(order_.size());
  nodes_.grow_to(order_.size());
  for (uint32_t position = 0; position < order_.size(); ++position) {
    const uint32_t v = order_[position], device = run.assignment[v];
    const double start_us = run.start_us[v], finish_us = run.finish_us[v];
    const double free_us = finish_us + problem_->gap_after_us(finish_us - start_us);
    const uint32_t entry = devices_.add(device, position, start_us, free_us);
    nodes_[v] = {position, device, entry, start_us, finish_us, 0};
    if (spend(stop, 2)) return;
  }
}

// What the node there sends.
void Queues::book_sends(uint32_t position, std::span<const uint32_t> assignment, Stop* stop) {
  const Topology& topology = problem_->topology();
  const uint32_t v = order_[position], device = assignment[v];
  const auto out_edges = problem_->graph().out_edges(v);
  for (const OutEdge& out : watched(out_edges, stop)) {
    const uint32_t to = assignment[out.target];
    if (out.output == kControlEdge || to == device) continue;
    uint32_t& index = send_at_[slot(out.output, to)];
    if (index != kNoIndex) continue;
    index = static_cast<uint32_t>(sends_.size());
    Send& send = sends_.emplace_back();
    send.output = out.output;
    send.destination = to;
    double start_us = nodes_[v].finish_us;
    const Transfer transfer = find_transfer(out.output, device, to);
    if (contended_) {
      send.channel = topology.channel(device, to);
      double& free_us = channel_free_us_[send.channel];
      start_us = std::max(start_us, double{free_us});  // of values: of places it would be a jump
      send.free_us = free_us = start_us + transfer.us + topology.link(device, to).gap_us;
    }
    send.start_us = start_us;
    send.arrival_us = start_us + transfer.until_arrival_us;
  }
  spend(stop, 1 + out_edges.size());
}

void Queues::queue_sends(Stop* stop) {
  channels_.begin.assign(problem_->topology().channel_count() + 1, 0);
  if (!contended_) return;
  for (const Send& send : sends_) ++channels_.begin[send.channel + 1];
  channels_.open(sends_.size());
  for (uint32_t index = 0; index < sends_.size(); ++index) {
    Send& send = sends_[index];
    send.entry = channels_.add(send.channel, index, send.start_us, send.free_us);
    if (spend(stop, 1)) return;
  }
}

// From the end: a node has to be through before what is next on its device and what reads it, a
// transfer before its readers and what is next on its channel.
void Queues::find_latest_starts_in_order(Stop* stop) {
  for (auto position = static_cast<uint32_t>(order_.size()); position-- > 0;) {
    Node& node = nodes_[order_[position]];
    const double run_us = node.finish_us - node.start_us;
    const double next_us = devices_.latest_behind_us(node.device, node.entry);
    double finish_by_us = std::min(makespan_us_, next_us - problem_->gap_after_us(run_us));
    const auto out_edges = problem_->graph().out_edges(order_[position]);
    for (const OutEdge& out : watched(out_edges, stop)) {
      const uint32_t there = nodes_[out.target].device;
      double due_us = nodes_[out.target].latest_start_us;
      if (out.output != kControlEdge && there != node.device) {
        if (contended_) {
          double& readers_us = entry_of(*send_to(out.output, there)).latest_start_us;
          readers_us = std::min(readers_us, due_us);  // when it has to arrive, for now
          continue;
        }
        due_us -= find_transfer(out.output, node.device, there).until_arrival_us;
      }
      finish_by_us = std::min(finish_by_us, due_us);
    }
    for (uint32_t i = first_send_[position + 1]; contended_ && i-- > first_send_[position];) {
      finish_by_us = std::min(finish_by_us, find_latest_start_us(sends_[i], node.device));
    }
    node.latest_start_us = devices_.entries[node.entry].latest_start_us = finish_by_us - run_us;
    if (spend(stop, 1 + 2 * out_edges.size())) return;
  }
}

double Queues::find_latest_start_us(const Send& send, uint32_t source) {
  Entry& entry = entry_of(send);
  const double next_us = channels_.latest_behind_us(send.channel, send.entry);
  const Transfer transfer = find_transfer(send.output, source, send.destination);
  const double gap_us = problem_->topology().link(source, send.destination).gap_us;
  entry.latest_start_us =
      std::min(entry.latest_start_us - transfer.until_arrival_us, next_us - gap_us - transfer.us);
  return entry.latest_start_us;
}

Queues::Transfer Queues::find_transfer(uint32_t output, uint32_t from, uint32_t to) const {
  const double us = problem_->transfer_us(output, from, to);
  return {us, us + problem_->topology().latency_us(from, to)};
}

}  // namespace placeto
