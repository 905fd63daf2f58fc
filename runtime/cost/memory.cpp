#include "runtime/cost/memory.h"

#include <algorithm>
#include <utility>

#include "runtime/base/no_index.h"
#include "runtime/base/saturating.h"

namespace placeto {

std::vector<uint64_t> bytes_while_running(const Problem& problem, Stop* stop) {
  const Graph& graph = problem.graph();
  std::vector<uint64_t> most(problem.group_count(), 0);
  std::vector<uint32_t> counted(graph.output_count(), kNoIndex);
  for (uint32_t v = 0; v < graph.node_count(); ++v) {
    if (spend(stop, graph.in_edges(v).size() + graph.out_work(v))) break;
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
      end_of_node_(problem.node_count()),
      peak_end_us_(problem.device_count()),
      first_transfer_(problem.graph().output_count()),
      behind_last_(problem.device_count(), 0) {
  next_transfer_.grow_to(problem.graph().edge_count());
  if (problem.is_staged()) end_of_stage_.reserve(problem.node_count());
  const size_t most = size_t{problem.node_count()} * (problem.is_staged() ? 2 : 1);
  end_us_.grow_to(most + problem.device_count());
  taken_.grow_to(most + problem.device_count());
}

bool MemoryMeter::peaks(std::span<const uint32_t> assignment, const Timeline& timeline,
                        std::vector<uint64_t>& peak) {
  const uint32_t devices = problem_->device_count();
  count_resident(assignment);
  list_transfers(timeline.transfers);
  list_ends(assignment, timeline);
  if (stopped(stop_)) return false;
  hold_all(assignment, timeline);
  if (stopped(stop_)) return false;
  peak.assign(devices, 0);
  for (uint32_t d = 0; d < devices; ++d) {
    auto held = static_cast<int64_t>(resident_[d]);
    int64_t most = held;
    peak_end_us_[d] = 0;
    for (uint32_t end = begin_[d]; end < end_[d]; ++end) {
      held += taken_[end];
      if (held <= most) continue;
      most = held;
      peak_end_us_[d] = end_us_[end];
    }
    if (spend(stop_, Stop::looked_up(end_[d] - begin_[d]))) return false;
    peak[d] = static_cast<uint64_t>(most);
  }
  return true;
}

void MemoryMeter::count_resident(std::span<const uint32_t> assignment) {
  std::fill(resident_.begin(), resident_.end(), 0);
  for (uint32_t v = 0; v < problem_->node_count(); ++v) {
    resident_[assignment[v]] += problem_->graph().node(v).resident_bytes;
    if (spend(stop_, 1)) return;
  }
}

// By output, for hold_copies.
void MemoryMeter::list_transfers(std::span<const TransferSlice> transfers) {
  std::fill(first_transfer_.begin(), first_transfer_.end(), kNoIndex);
  next_transfer_.grow_to(transfers.size());
  for (uint32_t i = 0; i < transfers.size(); ++i) {
    next_transfer_[i] = std::exchange(first_transfer_[transfers[i].output], i);
    if (spend(stop_, 1)) return;
  }
}

// Nodes of a stage follow each other in the order, and its end follows them.
void MemoryMeter::list_ends(std::span<const uint32_t> assignment, const Timeline& timeline) {
  std::fill(begin_.begin(), begin_.end(), 0);
  for (const uint32_t d : watched(assignment, stop_)) ++begin_[d + 1];
  for (const StageSlice& stage : watched(std::span(timeline.stages), stop_)) {
    ++begin_[stage.device + 1];
  }
  for (uint32_t d = 0; d < end_.size(); ++d) {
    begin_[d + 1] += begin_[d] + 1;
    end_[d] = begin_[d];
  }
  end_us_.grow_to(begin_.back());
  taken_.grow_to(begin_.back());
  const bool staged = !timeline.stages.empty();
  end_of_stage_.resize(timeline.stages.size());
  for (size_t i = 0; i < timeline.order.size(); ++i) {
    const uint32_t v = timeline.order[i];
    end_of_node_[v] = add_end(assignment[v], timeline.finish_us[v]);
    if (spend(stop_, 1)) return;
    if (!staged) continue;
    const uint32_t stage = timeline.stage_of[v];
    const bool goes_on =
        i + 1 < timeline.order.size() && timeline.stage_of[timeline.order[i + 1]] == stage;
    if (!goes_on) end_of_stage_[stage] = add_end(assignment[v], timeline.stages[stage].end_us);
  }
  for (const uint32_t end : end_) taken_[end] = 0;
}

uint32_t MemoryMeter::add_end(uint32_t device, double us) {
  uint32_t& end = end_[device];
  if (end > begin_[device] && end_us_[end - 1] == us) return end - 1;
  end_us_[end] = us;
  taken_[end] = 0;
  return end++;
}

// From some time between the end before the first and that, to the one before `behind`.
void MemoryMeter::hold(uint32_t device, double from_us, Ends ends, uint64_t bytes) {
  if (bytes == 0 || ends.first >= ends.behind) return;  // for no time
  taken_[ends.first] += static_cast<int64_t>(bytes);
  taken_[ends.behind] -= static_cast<int64_t>(bytes);
  if (list_ != nullptr) list_->push_back({device, from_us, end_us_[ends.behind - 1], bytes});
}

void MemoryMeter::hold_all(std::span<const uint32_t> assignment, const Timeline& timeline) {
  const Graph& graph = problem_->graph();
  // A session holds what enters and leaves it until it ends.
  const bool staged = !timeline.stages.empty();
  const auto last_read = [this, &timeline, staged](uint32_t producer, uint32_t w) {
    const bool cut = staged && timeline.stage_of[w] != timeline.stage_of[producer];
    return cut ? end_of_stage_[timeline.stage_of[w]] : end_of_node_[w];
  };
  for (uint32_t v = 0; v < graph.node_count(); ++v) {
    const uint32_t device = assignment[v], end = end_of_node_[v];
    // The end of what takes no time comes before what it takes.
    const double start_us = timeline.start_us[v];
    const uint32_t first = start_us < timeline.finish_us[v] ? end : end + 1;
    hold(device, start_us, {first, end + 1}, graph.node(v).workspace_bytes);
    for (uint32_t o = graph.output_begin(v); o < graph.output_end(v); ++o) {
      uint32_t last = end;
      for (uint32_t w : watched(graph.consumers(o), stop_)) {
        if (assignment[w] == device) last = std::max(last, last_read(v, w));
        if (staged && timeline.stage_of[w] != timeline.stage_of[v]) {
          last = std::max(last, end_of_stage_[timeline.stage_of[v]]);
        }
      }
      hold(device, start_us, {first, last + 1}, graph.output_bytes(o));
      if (first_transfer_[o] != kNoIndex) hold_copies(assignment, timeline, o, last_read);
    }
    if (spend(stop_, graph.out_work(v))) return;
  }
}

// What other devices than its producer's hold of an output. The readers are gone through once for
// all transfers: there may be a million, and a thousand devices.
template <class LastRead>
void MemoryMeter::hold_copies(std::span<const uint32_t> assignment, const Timeline& timeline,
                              uint32_t output, const LastRead& last_read) {
  const Graph& graph = problem_->graph();
  const uint32_t producer = graph.producer(output), source = assignment[producer];
  const uint64_t bytes = graph.output_bytes(output);
  const auto consumers = graph.consumers(output);
  for (uint32_t w : watched(consumers, stop_)) {
    uint32_t& there = behind_last_[assignment[w]];
    there = std::max(there, 1 + last_read(producer, w));
  }
  for (uint32_t i = first_transfer_[output]; i != kNoIndex; i = next_transfer_[i]) {
    const TransferSlice& transfer = timeline.transfers[i];
    if (transfer.destination != TransferSlice::kBroadcast) {
      const uint32_t to = transfer.destination;
      hold_copy(to, transfer.arrival_us, behind_last_[to], bytes);
      continue;
    }
    // The first consumer on each device speaks for it.
    for (uint32_t w : watched(consumers, stop_)) {
      const uint32_t to = assignment[w], behind = std::exchange(behind_last_[to], 0);
      if (to != source) hold_copy(to, transfer.arrival_us, behind, bytes);
    }
  }
  for (uint32_t w : watched(consumers, stop_)) behind_last_[assignment[w]] = 0;
  spend(stop_, 2 * consumers.size());
}

void MemoryMeter::hold_copy(uint32_t device, double arrival_us, uint32_t behind, uint64_t bytes) {
  const double* const begin = end_us_.data();
  const double* const first =
      std::upper_bound(begin + begin_[device], begin + end_[device], arrival_us);
  hold(device, arrival_us, {static_cast<uint32_t>(first - begin), behind}, bytes);
}

}  // namespace placeto
