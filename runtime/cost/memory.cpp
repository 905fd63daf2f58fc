#include "runtime/cost/memory.h"

#include <algorithm>

#include "runtime/base/no_index.h"
#include "runtime/base/saturating.h"
#include "runtime/base/stoppable_sort.h"

namespace placeto {

std::vector<uint64_t> bytes_while_running(const Problem& problem, Stop* stop) {
  const Graph& graph = problem.graph();
  std::vector<uint64_t> most(problem.group_count(), 0);
  std::vector<uint32_t> counted(graph.output_count(), kNoIndex);
  for (uint32_t v = 0; v < graph.node_count(); ++v) {
    if (spend(stop, 1 + graph.in_edges(v).size())) break;
    // A run that takes no time, or none that its clock can tell, holds nothing.
    if (problem.fastest_us(v) <= problem.shortest_passing_us()) continue;
    uint64_t sum = graph.node(v).workspace_bytes;
    for (uint32_t o = graph.output_begin(v); o < graph.output_end(v); ++o) {
      sum += graph.output_bytes(o);
    }
    for (const InEdge& in : watched(graph.in_edges(v), stop)) {
      if (in.output == kControlEdge || counted[in.output] == v) continue;
      counted[in.output] = v;
      sum += graph.output_bytes(in.output);
    }
    uint64_t& bytes = most[problem.group_of(v)];
    bytes = std::max(bytes, sum);
  }
  return most;
}

uint64_t overflow_bytes(const Problem& problem, std::span<const uint64_t> peak) {
  uint64_t sum = 0;
  for (uint32_t d = 0; d < problem.device_count(); ++d) {
    const uint64_t limit = problem.memory_limit(d);
    if (peak[d] > limit) sum = saturating_add(sum, peak[d] - limit);
  }
  return sum;
}

MemoryMeter::MemoryMeter(const Problem& problem, Stop* stop)
    : problem_(&problem),
      stop_(stop),
      resident_(problem.device_count()),
      begin_(problem.device_count() + 1),
      end_(problem.device_count()),
      first_transfer_(problem.graph().output_count()),
      last_finish_(problem.device_count(), kUnread) {
  const Graph& graph = problem.graph();
  const size_t most = 2 * (size_t{graph.node_count()} + graph.output_count() + graph.edge_count());
  changes_.grow_to(most);
  sorted_.grow_to(most);
  next_transfer_.grow_to(graph.edge_count());
}

// What other devices than its producer's hold of an output. The readers are gone through once for
// all transfers: there may be a million, and a thousand devices.
template <class LastRead, class Hold>
void MemoryMeter::each_copy(std::span<const uint32_t> assignment, const Timeline& timeline,
                            uint32_t output, const LastRead& last_read, const Hold& hold) {
  const Graph& graph = problem_->graph();
  const uint32_t producer = graph.producer(output), source = assignment[producer];
  const uint64_t bytes = graph.output_bytes(output);
  const auto consumers = graph.consumers(output);
  for (uint32_t w : watched(consumers, stop_)) {
    double& there = last_finish_[assignment[w]];
    there = std::max(there, last_read(producer, w));
  }
  for (uint32_t i = first_transfer_[output]; i != kNoIndex; i = next_transfer_[i]) {
    const TransferSlice& transfer = timeline.transfers[i];
    if (transfer.destination != TransferSlice::kBroadcast) {
      const uint32_t to = transfer.destination;
      hold(to, transfer.arrival_us, last_finish_[to], bytes);
      continue;
    }
    // The first consumer on each device speaks for it.
    for (uint32_t w : watched(consumers, stop_)) {
      const uint32_t to = assignment[w];
      const double last = std::exchange(last_finish_[to], kUnread);
      if (last != kUnread && to != source) hold(to, transfer.arrival_us, last, bytes);
    }
  }
  for (uint32_t w : watched(consumers, stop_)) last_finish_[assignment[w]] = kUnread;
  spend(stop_, 2 * consumers.size());
}

// Calls visit(device, from, to, bytes) for everything held for part of the run.
template <class Visit>
void MemoryMeter::each_interval(std::span<const uint32_t> assignment, const Timeline& timeline,
                                Visit visit) {
  const Graph& graph = problem_->graph();
  const auto hold = [&visit](uint32_t device, double from, double to, uint64_t bytes) {
    if (bytes != 0 && from < to) visit(device, from, to, static_cast<int64_t>(bytes));
  };
  // A session holds what enters and leaves it until it ends.
  const bool staged = !timeline.stages.empty();
  const auto last_read = [&timeline, staged](uint32_t producer, uint32_t w) {
    const bool cut = staged && timeline.stage_of[w] != timeline.stage_of[producer];
    return cut ? timeline.stages[timeline.stage_of[w]].end_us : timeline.finish_us[w];
  };
  for (uint32_t v = 0; v < graph.node_count(); ++v) {
    const uint32_t device = assignment[v];
    hold(device, timeline.start_us[v], timeline.finish_us[v], graph.node(v).workspace_bytes);
    for (uint32_t o = graph.output_begin(v); o < graph.output_end(v); ++o) {
      double last = timeline.finish_us[v];
      for (uint32_t w : watched(graph.consumers(o), stop_)) {
        if (assignment[w] == device) last = std::max(last, last_read(v, w));
        if (staged && timeline.stage_of[w] != timeline.stage_of[v]) {
          last = std::max(last, timeline.stages[timeline.stage_of[v]].end_us);
        }
      }
      hold(device, timeline.start_us[v], last, graph.output_bytes(o));
      if (first_transfer_[o] != kNoIndex) each_copy(assignment, timeline, o, last_read, hold);
    }
    if (spend(stop_, 1 + graph.out_edges(v).size())) return;
  }
}

// By output, for each_interval.
void MemoryMeter::list_transfers(std::span<const TransferSlice> transfers) {
  std::fill(first_transfer_.begin(), first_transfer_.end(), kNoIndex);
  next_transfer_.grow_to(transfers.size());
  for (uint32_t i = 0; i < transfers.size(); ++i) {
    next_transfer_[i] = std::exchange(first_transfer_[transfers[i].output], i);
    if (spend(stop_, 1)) return;
  }
}

bool MemoryMeter::peaks(std::span<const uint32_t> assignment, const Timeline& timeline,
                        std::vector<uint64_t>& peak) {
  const uint32_t devices = problem_->device_count();
  std::fill(resident_.begin(), resident_.end(), 0);
  for (uint32_t v = 0; v < problem_->node_count(); ++v) {
    resident_[assignment[v]] += problem_->graph().node(v).resident_bytes;
    if (spend(stop_, 1)) return false;
  }
  list_transfers(timeline.transfers);
  std::fill(begin_.begin(), begin_.end(), 0);
  each_interval(assignment, timeline,
                [this](uint32_t device, double, double, int64_t) { begin_[device + 1] += 2; });
  if (stopped(stop_)) return false;
  for (uint32_t d = 0; d < devices; ++d) begin_[d + 1] += begin_[d];
  std::copy(begin_.begin(), begin_.end() - 1, end_.begin());
  MemoryChange* const changes = changes_.grow_to(begin_[devices]);
  each_interval(assignment, timeline, [&](uint32_t device, double from, double to, int64_t bytes) {
    changes[end_[device]++] = {from, bytes};
    changes[end_[device]++] = {to, -bytes};
  });
  if (stopped(stop_)) return false;
  peak.assign(devices, 0);
  for (uint32_t d = 0; d < devices; ++d) {
    MemoryChange *const first = changes + begin_[d], *const last = changes + begin_[d + 1];
    const auto earlier = [](const MemoryChange& a, const MemoryChange& b) {
      return a.time_us != b.time_us ? a.time_us < b.time_us : a.bytes < b.bytes;
    };
    stoppable_sort(first, last, earlier, stop_, &sorted_);
    if (stopped(stop_)) return false;
    auto held = static_cast<int64_t>(resident_[d]);
    int64_t most = held;
    for (const MemoryChange* change = first; change != last; ++change) {
      held += change->bytes;
      most = std::max(most, held);
    }
    if (spend(stop_, Stop::looked_up(static_cast<size_t>(last - first)))) return false;
    peak[d] = static_cast<uint64_t>(most);
  }
  return true;
}

}  // namespace placeto
