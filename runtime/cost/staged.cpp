#include "runtime/cost/staged.h"

#include <algorithm>
#include <limits>

#include "runtime/base/no_index.h"

namespace placeto {
namespace {

// Late is what misses a cutoff by more than this: sums in another order may differ in their last
// bits.
constexpr double kSure = 1 + 1e-9;

bool ranks_stages(const Problem& problem) {
  return problem.topology().spec().dispatch == Dispatch::kPriority;
}

}  // namespace

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
      bottleneck_(problem),
      most_transfers_(problem.graph().edge_count()),
      ready_(problem.device_count(), problem.node_count(), ranks_stages(problem)),
      sender_(problem, stop) {
  const uint32_t nodes = problem.node_count(), devices = problem.device_count();
  for (Run& run : runs_) {
    run.division.stage_of.reserve(nodes);
    run.division.device.reserve(nodes);
    run.division.order.reserve(nodes);
    run.stages.reserve(nodes);
    run.started.reserve(nodes);
    run.transfers.reserve(most_transfers_);
    run.device_busy_us.resize(devices);
    run.channel_busy_us.resize(problem.topology().channel_count());
  }
  assignment_.reserve(nodes);
  cuts_.list.reserve(size_t{problem.graph().output_count()} + most_transfers_);
  cuts_.readers.reserve(most_transfers_);
  cuts_.seen.resize(nodes);
  events_.reserve(most_transfers_ + devices);
  device_left_us_.resize(devices);
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

double StagedSimulator::run(std::span<const uint32_t> assignment, const Division& division,
                            double cutoff_us) {
  assignment_.assign(assignment.begin(), assignment.end());
  times_.filled = false;
  kept_ = &runs_[0];
  kept_->division = division;
  evaluate(assignment, cutoff_us, *kept_);
  return stopped(stop_) ? kNever : kept_->makespan_us;
}

// Returns the objective.
double StagedSimulator::evaluate(std::span<const uint32_t> assignment, double cutoff_us, Run& run) {
  compile(assignment, run);
  const bool latency = problem_->objective() == Objective::kLatency;
  const double busiest = *std::max_element(run.device_busy_us.begin(), run.device_busy_us.end());
  run.makespan_us = run.objective_us = kNever;
  if (stopped(stop_) || (latency && busiest > kSure * cutoff_us)) return kNever;
  if (!simulate(assignment, latency ? cutoff_us : kNever, run)) return kNever;
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
  const Division& division = run.division;
  const uint32_t stages = division.stage_count();
  run.stages.assign(stages, StageRun{});
  for (uint32_t s = 0; s < stages; ++s) {
    run.stages[s].head_us = problem_->topology().device(division.device[s]).stage_us;
  }
  for (uint32_t v : problem_->graph().topological_order()) {
    run.stages[division.stage_of[v]].work_us += problem_->run_us(v, assignment[v]);
    if (spend(stop_, 1)) return;
  }
  find_cuts(run);
  std::fill(run.device_busy_us.begin(), run.device_busy_us.end(), 0);
  for (uint32_t s = 0; s < stages; ++s) {
    run.device_busy_us[division.device[s]] += run.stages[s].taken_us();
  }
}

// From the last node to the first, since a stage's chain of cuts grows at its head.
void StagedSimulator::find_cuts(Run& run) {
  const Graph& graph = problem_->graph();
  const Division& division = run.division;
  const uint32_t stages = division.stage_count();
  const bool ranked = ranks_stages(*problem_);
  std::fill_n(cuts_.seen.begin(), stages, kNoIndex);
  cuts_.list.clear();
  cuts_.readers.clear();
  for (uint32_t v = graph.node_count(); stages > 1 && v-- > 0;) {
    const uint32_t stage = division.stage_of[v];
    for (uint32_t o = graph.output_end(v); o-- > graph.output_begin(v);) add_cut(o, stage, run);
    for (const OutEdge& e : watched(graph.out_edges(v), stop_)) {
      const uint32_t reader = division.stage_of[e.target];
      if (e.output == kControlEdge && reader != stage) add_control(reader, stage, run);
    }
    if (ranked) {
      double& rank = run.stages[stage].rank;
      rank = std::max(rank, problem_->upward_rank()[v]);
    }
    if (spend(stop_, 1 + graph.out_edges(v).size())) return;
  }
}

// The output is a cut if another stage than the one that makes it reads it.
void StagedSimulator::add_cut(uint32_t output, uint32_t stage, Run& run) {
  const Division& division = run.division;
  const auto first = static_cast<uint32_t>(cuts_.readers.size());
  for (uint32_t consumer : watched(problem_->graph().consumers(output), stop_)) {
    const uint32_t reader = division.stage_of[consumer];
    if (reader == stage || cuts_.seen[reader] == output) continue;
    cuts_.seen[reader] = output;
    cuts_.readers.push_back(reader);
    run.stages[reader].head_us += price_us(division.device[reader], output);
    ++run.stages[reader].missing;
  }
  const auto end = static_cast<uint32_t>(cuts_.readers.size());
  if (end == first) return;
  run.stages[stage].tail_us += price_us(division.device[stage], output);
  cuts_.list.push_back({output, first, end, run.stages[stage].first_cut});
  run.stages[stage].first_cut = static_cast<uint32_t>(cuts_.list.size() - 1);
}

void StagedSimulator::add_control(uint32_t reader, uint32_t stage, Run& run) {
  const auto first = static_cast<uint32_t>(cuts_.readers.size());
  cuts_.readers.push_back(reader);
  cuts_.list.push_back({kControlEdge, first, first + 1, run.stages[stage].first_cut});
  run.stages[stage].first_cut = static_cast<uint32_t>(cuts_.list.size() - 1);
  ++run.stages[reader].missing;
}

// The longest way to the end of the run, if nothing waits for a device or a channel; from the last
// stage to the first, since dependencies lead to higher numbers.
void StagedSimulator::find_what_is_left(std::span<const uint32_t> assignment, Run& run) {
  const std::vector<uint32_t>& device_of = run.division.device;
  for (uint32_t s = run.division.stage_count(); s-- > 0;) {
    double behind_us = 0;
    for (uint32_t c = run.stages[s].first_cut; c != kNoIndex; c = cuts_.list[c].next) {
      const Cut& cut = cuts_.list[c];
      CutWay way(*problem_, assignment, cut.output, device_of[s]);
      for (uint32_t i = cut.reader_begin; i < cut.reader_end; ++i) {
        const uint32_t reader = cuts_.readers[i];
        behind_us = std::max(behind_us, way.us(device_of[reader]) + run.stages[reader].left_us);
      }
      if (spend(stop_, 1 + cut.reader_end - cut.reader_begin)) return;
    }
    run.stages[s].left_us = run.stages[s].taken_us() + behind_us;
  }
}

// Whether all ran, and in less than the cutoff. False if stopped, mostly: whoever needs to know
// asks.
bool StagedSimulator::simulate(std::span<const uint32_t> assignment, double cutoff_us, Run& run) {
  const double latest_us = kSure * cutoff_us;
  events_.clear();
  run.started.clear();
  run.transfers.clear();
  run.makespan_us = run.drain_us = 0;
  ready_.begin(run.stages, run.division);
  sender_.begin(assignment, run.transfers);
  const bool may_be_late = cutoff_us < kNever;
  if (may_be_late) {
    find_what_is_left(assignment, run);
    device_left_us_ = run.device_busy_us;
  }
  bool late = false;
  for (uint32_t s = 0; s < run.stages.size(); ++s) {
    StageRun& stage = run.stages[s];
    stage.unsent = stage.missing;
    if (stage.missing != 0) continue;
    ready_.arrive(s, 0);
    late |= stage.left_us > latest_us;
  }
  for (double now = 0; !late;) {
    ready_.take([&](uint32_t device, uint32_t s) {
      StageRun& stage = run.stages[s];
      stage.start_us = now;
      stage.end_us = now + stage.taken_us();
      run.started.push_back(s);
      push({stage.end_us, 0, device});
      if (!may_be_late) return;
      late |= now + std::max(stage.left_us, device_left_us_[device]) > latest_us;
      device_left_us_[device] -= stage.taken_us();
    });
    if (events_.empty()) break;
    now = events_.front().time;
    while (!events_.empty() && events_.front().time == now) {
      if (spend(stop_, 1)) return false;
      const Event event = pop();
      if (event.arrival != 0) {
        run.stages[event.index].missing = 0;
        ready_.arrive(event.index, now);
        continue;
      }
      run.makespan_us = std::max(run.makespan_us, now);
      end_stage(ready_.end(event.index), run);
    }
    run.drain_us = std::max(run.drain_us, now);
  }
  run.drain_us = std::max(run.drain_us, sender_.idle_us());
  if (late) run.makespan_us = kNever;
  return !late;
}

// What leaves it sets out.
void StagedSimulator::end_stage(uint32_t stage, Run& run) {
  const std::vector<uint32_t>& device_of = run.division.device;
  const double now = run.stages[stage].end_us;
  for (uint32_t c = run.stages[stage].first_cut; c != kNoIndex; c = cuts_.list[c].next) {
    const Cut& cut = cuts_.list[c];
    const std::span<const uint32_t> readers{cuts_.readers.data() + cut.reader_begin,
                                            cuts_.readers.data() + cut.reader_end};
    const bool control = cut.output == kControlEdge;
    if (!control) sender_.send(cut.output, readers, device_of, now);
    for (uint32_t reader : watched(readers, stop_)) {
      StageRun& next = run.stages[reader];
      const double arrival_us = control ? now : sender_.arrival_us(device_of[reader]);
      next.ready_us = std::max(next.ready_us, arrival_us);
      if (--next.unsent == 0) push({next.ready_us, 1, reader});
    }
    if (spend(stop_, 1 + readers.size())) return;
  }
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
    const StageRun& stage = kept_->stages[s];
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
    const StageRun& stage = kept_->stages[s];
    timeline.stages.push_back({kept_->division.device[s], stage.start_us, stage.end_us});
  });
  timeline.device_busy_us = kept_->device_busy_us;
  timeline.channel_busy_us = kept_->channel_busy_us;
}

}  // namespace placeto
