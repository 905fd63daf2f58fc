#include "runtime/cost/staged.h"

#include <algorithm>
#include <limits>

#include "runtime/base/no_index.h"
#include "runtime/cost/broadcast_link.h"

namespace placeto {

StageTables::StageTables(const Problem& problem, Stop* stop)
    : order_(problem.graph().topological_order()) {
  const Graph& graph = problem.graph();
  begin_.reserve(size_t{graph.node_count()} + 1);
  begin_.push_back(0);
  target_.reserve(graph.edge_count());
  for (uint32_t v = 0; v < graph.node_count(); ++v) {
    for (const OutEdge& e : watched(graph.out_edges(v), stop)) target_.push_back(e.target);
    if (spend(stop, 1 + graph.out_edges(v).size())) {  // who indexes it finds nothing to read
      begin_.assign(size_t{graph.node_count()} + 1, 0);
      target_.clear();
      return;
    }
    begin_.push_back(static_cast<uint32_t>(target_.size()));
  }
}

StagedSimulator::StagedSimulator(const Problem& problem, Stop* stop)
    : problem_(&problem),
      stop_(stop),
      tables_(problem, stop),
      former_(tables_.graph(), problem.device_count(), stop),
      priority_(problem.topology().spec().dispatch == Dispatch::kPriority),
      unicast_(problem.topology().spec().transfer == Transfer::kUnicast),
      contended_(problem.topology().spec().contention == Contention::kEgress),
      most_readers_(problem.graph().edge_count()),
      bottleneck_(problem) {
  const uint32_t nodes = problem.node_count(), devices = problem.device_count();
  for (Run& run : runs_) {
    run.division.stage_of.reserve(nodes);
    run.division.device.reserve(nodes);
    run.division.order.reserve(nodes);
    run.stages.reserve(nodes);
    run.started.reserve(nodes);
    run.transfers.reserve(most_readers_);
    run.device_busy_us.resize(devices);
    run.channel_busy_us.resize(problem.topology().channel_count());
  }
  assignment_.reserve(nodes);
  cuts_.reserve(size_t{problem.graph().output_count()} + most_readers_);
  readers_.reserve(most_readers_);
  seen_.resize(nodes);
  events_.reserve(most_readers_ + devices);
  devices_.resize(devices);
  touched_.reserve(devices);
  sequence_.reserve(nodes);
  channel_free_us_.resize(problem.topology().channel_count());
  arrival_us_.resize(devices);
  destinations_.reserve(devices);
  times_.start_us.resize(nodes);
  times_.finish_us.resize(nodes);
  times_.done_us.reserve(nodes);
  spend(stop, nodes);  // memory touched for the first time is slow
}

double StagedSimulator::run(std::span<const uint32_t> assignment, double cutoff_us) {
  assignment_.assign(assignment.begin(), assignment.end());
  times_.filled = false;
  kept_ = &runs_[0];
  double best = kNever;
  for (size_t i = 0; i < std::size(kStageRules); ++i) {
    Run& run = runs_[i];
    if (!former_.form(assignment, kStageRules[i], run.division, stop_)) return kNever;
    const double objective = evaluate(assignment, std::min(cutoff_us, best), run);
    if (stopped(stop_)) return kNever;
    if (i == 0 || objective < best) {
      best = objective;
      kept_ = &run;
    }
    if (run.division.stage_count() <= 1) break;  // so is every other
  }
  return kept_->makespan_us;
}

double StagedSimulator::run(std::span<const uint32_t> assignment, const Division& division) {
  assignment_.assign(assignment.begin(), assignment.end());
  times_.filled = false;
  kept_ = &runs_[0];
  kept_->division = division;
  evaluate(assignment, kNever, *kept_);
  return stopped(stop_) ? kNever : kept_->makespan_us;
}

// Returns the objective.
double StagedSimulator::evaluate(std::span<const uint32_t> assignment, double cutoff_us, Run& run) {
  compile(assignment, run);
  const bool latency = problem_->objective() == Objective::kLatency;
  const double busiest = *std::max_element(run.device_busy_us.begin(), run.device_busy_us.end());
  run.makespan_us = run.objective_us = kNever;
  if (stopped(stop_) || (latency && busiest >= cutoff_us) || !simulate(assignment, run)) {
    return kNever;
  }
  run.objective_us = run.makespan_us;
  if (!latency) {
    run.objective_us =
        bottleneck_.find(assignment, run.device_busy_us, run.transfers, run.channel_busy_us, stop_);
  }
  return run.objective_us;
}

// What a device pays for a cut that enters or leaves one of its stages.
double StagedSimulator::price_us(uint32_t device, uint32_t output) const {
  const DeviceSpec& spec = problem_->topology().device(device);
  if (spec.cut_bytes_per_us == 0) return spec.cut_us;
  return spec.cut_us +
         static_cast<double>(problem_->graph().output_bytes(output)) / spec.cut_bytes_per_us;
}

// Fills in what each stage takes, its cuts and who reads them.
void StagedSimulator::compile(std::span<const uint32_t> assignment, Run& run) {
  const Graph& graph = problem_->graph();
  const Division& division = run.division;
  const uint32_t stages = division.stage_count();
  run.stages.assign(stages, Stage{});
  for (uint32_t s = 0; s < stages; ++s) {
    run.stages[s].head_us = problem_->topology().device(division.device[s]).stage_us;
    seen_[s] = kNoIndex;
  }
  for (uint32_t v : graph.topological_order()) {
    run.stages[division.stage_of[v]].work_us += problem_->run_us(v, assignment[v]);
    if (spend(stop_, 1)) return;
  }
  cuts_.clear();
  readers_.clear();
  // From the last to the first, since a stage's chain of cuts grows at its head.
  for (uint32_t v = graph.node_count(); stages > 1 && v-- > 0;) {
    const uint32_t stage = division.stage_of[v];
    for (uint32_t o = graph.output_end(v); o-- > graph.output_begin(v);) {
      add_cut(o, stage, run);
    }
    for (const OutEdge& e : watched(graph.out_edges(v), stop_)) {
      const uint32_t reader = division.stage_of[e.target];
      if (e.output != kControlEdge || reader == stage) continue;
      const auto first = static_cast<uint32_t>(readers_.size());
      readers_.push_back(reader);
      cuts_.push_back({kControlEdge, first, first + 1, run.stages[stage].first_cut});
      run.stages[stage].first_cut = static_cast<uint32_t>(cuts_.size() - 1);
      ++run.stages[reader].missing;
    }
    if (priority_) {
      double& rank = run.stages[stage].rank;
      rank = std::max(rank, problem_->upward_rank()[v]);
    }
    if (spend(stop_, 1 + graph.out_edges(v).size())) return;
  }
  std::fill(run.device_busy_us.begin(), run.device_busy_us.end(), 0);
  for (uint32_t s = 0; s < stages; ++s) {
    run.device_busy_us[division.device[s]] += run.stages[s].taken_us();
  }
}

// The output is a cut if another stage than the one that makes it reads it.
void StagedSimulator::add_cut(uint32_t output, uint32_t stage, Run& run) {
  const Division& division = run.division;
  const auto first = static_cast<uint32_t>(readers_.size());
  for (uint32_t consumer : watched(problem_->graph().consumers(output), stop_)) {
    const uint32_t reader = division.stage_of[consumer];
    if (reader == stage || seen_[reader] == output) continue;
    seen_[reader] = output;
    readers_.push_back(reader);
    run.stages[reader].head_us += price_us(division.device[reader], output);
    ++run.stages[reader].missing;
  }
  if (readers_.size() == first) return;
  run.stages[stage].tail_us += price_us(division.device[stage], output);
  cuts_.push_back(
      {output, first, static_cast<uint32_t>(readers_.size()), run.stages[stage].first_cut});
  run.stages[stage].first_cut = static_cast<uint32_t>(cuts_.size() - 1);
}

// Whether all ran. False if stopped, mostly: whoever needs to know asks.
bool StagedSimulator::simulate(std::span<const uint32_t> assignment, Run& run) {
  events_.clear();
  touched_.clear();
  run.started.clear();
  run.transfers.clear();
  run.makespan_us = run.drain_us = 0;
  std::fill(channel_free_us_.begin(), channel_free_us_.end(), 0);
  std::fill(devices_.begin(), devices_.end(), Device{});
  ordered_ = !run.division.order.empty();
  if (ordered_) list_sequence(run);
  for (uint32_t s = 0; s < run.stages.size(); ++s) {
    if (run.stages[s].missing == 0) arrive(s, 0, run);
  }
  for (double now = 0;;) {
    std::sort(touched_.begin(), touched_.end());
    for (uint32_t d : touched_) {
      Device& device = devices_[d];
      device.touched = false;
      if (device.running != kNoIndex) continue;
      device.running = take_next(device, run);
      if (device.running == kNoIndex) continue;
      Stage& stage = run.stages[device.running];
      stage.start_us = now;
      stage.end_us = now + stage.taken_us();
      run.started.push_back(device.running);
      push({stage.end_us, 0, d});
    }
    touched_.clear();
    if (events_.empty()) break;
    now = events_.front().time;
    while (!events_.empty() && events_.front().time == now) {
      if (spend(stop_, 1)) return false;
      const Event event = pop();
      if (event.arrival != 0) {
        if (--run.stages[event.index].missing == 0) arrive(event.index, now, run);
        continue;
      }
      const uint32_t stage = devices_[event.index].running;
      devices_[event.index].running = kNoIndex;
      touch(event.index);
      run.makespan_us = std::max(run.makespan_us, now);
      end_stage(assignment, stage, run);
    }
    run.drain_us = std::max(run.drain_us, now);
  }
  for (double us : channel_free_us_) run.drain_us = std::max(run.drain_us, us);
  return true;
}

void StagedSimulator::touch(uint32_t device) {
  if (devices_[device].touched) return;
  devices_[device].touched = true;
  touched_.push_back(device);
}

// Each device's part of the recorded order.
void StagedSimulator::list_sequence(const Run& run) {
  for (uint32_t device : run.division.device) ++devices_[device].end;
  uint32_t first = 0;
  for (Device& device : devices_) {
    device.next = first;
    first += device.end;
    device.end = device.next;
  }
  sequence_.resize(run.division.order.size());
  for (uint32_t s : run.division.order) sequence_[devices_[run.division.device[s]].end++] = s;
}

// The stage that a free device takes now; kNoIndex if there is none.
uint32_t StagedSimulator::take_next(Device& device, Run& run) {
  if (ordered_) {
    if (device.next == device.end || run.stages[sequence_[device.next]].missing != 0)
      return kNoIndex;
    return sequence_[device.next++];
  }
  const uint32_t first = device.ready;
  if (first != kNoIndex) device.ready = without_first(first, run);
  return first;
}

bool StagedSimulator::before(uint32_t a, uint32_t b, const Run& run) const {
  const Stage &x = run.stages[a], &y = run.stages[b];
  if (priority_ && x.rank != y.rank) return x.rank > y.rank;
  if (!priority_ && x.ready_us != y.ready_us) return x.ready_us < y.ready_us;
  return a < b;
}

uint32_t StagedSimulator::meld(uint32_t a, uint32_t b, Run& run) const {
  if (a == kNoIndex) return b;
  if (b == kNoIndex) return a;
  if (before(b, a, run)) std::swap(a, b);
  run.stages[b].sibling = run.stages[a].child;
  run.stages[a].child = b;
  return a;
}

// Fredman, Sedgewick, Sleator and Tarjan, "The pairing heap", 1986: pairs from left to right, then
// all of them together from right to left.
uint32_t StagedSimulator::without_first(uint32_t root, Run& run) const {
  uint32_t pairs = kNoIndex;
  for (uint32_t a = run.stages[root].child; a != kNoIndex;) {
    const uint32_t b = run.stages[a].sibling;
    const uint32_t rest = b == kNoIndex ? kNoIndex : run.stages[b].sibling;
    const uint32_t pair = meld(a, b, run);
    run.stages[pair].sibling = pairs;
    pairs = pair;
    a = rest;
  }
  uint32_t heap = kNoIndex;
  while (pairs != kNoIndex) {
    const uint32_t rest = run.stages[pairs].sibling;
    heap = meld(heap, pairs, run);
    pairs = rest;
  }
  return heap;
}

// The last thing that the stage waited for is there.
void StagedSimulator::arrive(uint32_t stage, double now, Run& run) {
  const uint32_t d = run.division.device[stage];
  touch(d);
  if (ordered_) return;
  Stage& ready = run.stages[stage];
  ready.ready_us = now;
  ready.child = ready.sibling = kNoIndex;
  devices_[d].ready = meld(devices_[d].ready, stage, run);
}

void StagedSimulator::end_stage(std::span<const uint32_t> assignment, uint32_t stage, Run& run) {
  const uint32_t source = run.division.device[stage];
  const double now = run.stages[stage].end_us;
  for (uint32_t c = run.stages[stage].first_cut; c != kNoIndex; c = cuts_[c].next) {
    const Cut& cut = cuts_[c];
    arrival_us_[source] = now;
    if (cut.output != kControlEdge) send_to_each(assignment, cut, source, now, run);
    in_pieces(cut.reader_begin, cut.reader_end, stop_, [&](uint32_t i) {
      const uint32_t device = run.division.device[readers_[i]];
      const double arrival = cut.output == kControlEdge ? now : arrival_us_[device];
      push({arrival, 1, readers_[i]});
    });
    if (spend(stop_, 1 + cut.reader_end - cut.reader_begin)) return;
  }
}

// Sends the cut to the devices of its readers and fills in when it gets there.
void StagedSimulator::send_to_each(std::span<const uint32_t> assignment, const Cut& cut,
                                   uint32_t source, double now, Run& run) {
  destinations_.clear();
  in_pieces(cut.reader_begin, cut.reader_end, stop_, [&](uint32_t i) {
    const uint32_t device = run.division.device[readers_[i]];
    if (device == source || devices_[device].sent_to == cut.reader_begin) return;
    devices_[device].sent_to = cut.reader_begin;
    destinations_.push_back(device);
  });
  if (destinations_.empty()) return;
  const Topology& topology = problem_->topology();
  TransferSlice what{cut.output, source, TransferSlice::kBroadcast, now, 0, 0};
  if (!unicast_) {
    const double arrival = send(assignment, what, run);
    for (uint32_t device : destinations_) arrival_us_[device] = arrival;
    return;
  }
  std::sort(destinations_.begin(), destinations_.end());
  for (uint32_t device : destinations_) {
    what.channel = topology.channel(source, device);
    what.destination = device;
    arrival_us_[device] = send(assignment, what, run);
  }
}

// Occupies the channel from start_us on, or from when it is free. Returns the arrival.
double StagedSimulator::send(std::span<const uint32_t> assignment, const TransferSlice& what,
                             Run& run) {
  const bool unicast = what.destination != TransferSlice::kBroadcast;
  const uint32_t source = assignment[problem_->graph().producer(what.output)];
  const LinkParameters& link = unicast ? problem_->topology().link(source, what.destination)
                                       : broadcast_link(*problem_, assignment, what.output, source);
  TransferSlice sent = what;
  double& free_us = channel_free_us_[what.channel];
  if (contended_) sent.start_us = std::max(sent.start_us, free_us);
  sent.end_us = sent.start_us + static_cast<double>(problem_->graph().output_bytes(what.output)) /
                                    link.bandwidth_bytes_per_us;
  sent.arrival_us = sent.end_us + (unicast ? link.latency_us : 0);
  if (contended_) free_us = sent.end_us + link.gap_us;
  run.transfers.push_back(sent);
  return sent.arrival_us;
}

// The heap's order: earliest first, ends before arrivals, then by index.
static bool later(double time_a, uint64_t rest_a, double time_b, uint64_t rest_b) {
  return time_a != time_b ? time_a > time_b : rest_a > rest_b;
}

void StagedSimulator::push(Event event) {
  events_.push_back(event);
  std::push_heap(events_.begin(), events_.end(), [](const Event& a, const Event& b) {
    return later(a.time, (uint64_t{a.arrival} << 32) | a.index, b.time,
                 (uint64_t{b.arrival} << 32) | b.index);
  });
}

StagedSimulator::Event StagedSimulator::pop() {
  std::pop_heap(events_.begin(), events_.end(), [](const Event& a, const Event& b) {
    return later(a.time, (uint64_t{a.arrival} << 32) | a.index, b.time,
                 (uint64_t{b.arrival} << 32) | b.index);
  });
  const Event event = events_.back();
  events_.pop_back();
  return event;
}

// Nodes run back to back behind what enters. The sums are those of Stage::taken_us, so the last
// node of a stage that nothing leaves finishes when the stage ends, to the bit.
const StagedSimulator::Times& StagedSimulator::times() {
  if (times_.filled || stopped(stop_)) return times_;  // a run that was stopped left no stages
  times_.filled = true;
  times_.done_us.assign(kept_->stages.size(), 0);
  for (uint32_t v : problem_->graph().topological_order()) {
    const uint32_t s = kept_->division.stage_of[v];
    const Stage& stage = kept_->stages[s];
    times_.start_us[v] = stage.start_us + (stage.head_us + times_.done_us[s]);
    times_.done_us[s] += problem_->run_us(v, assignment_[v]);
    times_.finish_us[v] = stage.start_us + (stage.head_us + times_.done_us[s]);
    if (spend(stop_, 1)) break;
  }
  return times_;
}

void StagedSimulator::describe(Timeline& timeline) {
  timeline.makespan_us = kept_->makespan_us;
  timeline.drain_us = kept_->drain_us;
  const Times& times = this->times();
  std::copy(times.start_us.begin(), times.start_us.end(), timeline.start_us.begin());
  std::copy(times.finish_us.begin(), times.finish_us.end(), timeline.finish_us.begin());
  const uint64_t copied = Stop::copied(problem_->node_count());
  if (spend(stop_, 2 * copied)) return;
  timeline.transfers.swap(kept_->transfers);
  timeline.stage_of.assign(kept_->division.stage_of.begin(), kept_->division.stage_of.end());
  timeline.stage_order.assign(kept_->started.begin(), kept_->started.end());
  timeline.stages.clear();
  if (spend(stop_, copied)) return;
  timeline.stages.reserve(kept_->stages.size());
  in_pieces(0, kept_->division.stage_count(), stop_, [&](uint32_t s) {
    const Stage& stage = kept_->stages[s];
    timeline.stages.push_back({kept_->division.device[s], stage.start_us, stage.end_us});
  });
  timeline.device_busy_us = kept_->device_busy_us;
  timeline.channel_busy_us = kept_->channel_busy_us;
}

}  // namespace placeto
