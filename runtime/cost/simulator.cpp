#include "runtime/cost/simulator.h"

#include <algorithm>
#include <optional>

#include "runtime/cost/bottleneck.h"
#include "runtime/cost/event_engine.h"
#include "runtime/cost/memory.h"
#include "runtime/cost/serial.h"
#include "runtime/cost/staged.h"

namespace placeto {

struct Simulator::Workspace {
  Workspace(const Problem& p, Stop* s) : problem(p), stop(s), bottleneck(p), memory(p, s) {
    if (p.execution() == Execution::kParallel) engine.emplace(p, s);
    timeline.start_us.resize(p.node_count());
    timeline.finish_us.resize(p.node_count());
    timeline.order.resize(p.node_count());
    if (stopped(stop)) return;
    if (p.is_staged()) {
      staged.emplace(p, s);
      timeline.stage_of.reserve(p.node_count());
      timeline.stages.reserve(p.node_count());
      timeline.stage_order.reserve(p.node_count());
      timeline.transfers.reserve(staged->most_transfers());
    } else {
      timeline.transfers.reserve(p.event_tables().delivery_count());
    }
    timeline.peak_memory_bytes.resize(p.device_count());
    timeline.device_busy_us.resize(p.device_count());
    timeline.channel_busy_us.resize(p.topology().channel_count());
    if (spend(stop, p.node_count())) return;  // memory touched for the first time is slow
    size_t most_edges = 0;
    in_pieces(0, p.node_count(), stop, [&](uint32_t v) {
      most_edges = std::max(most_edges, p.graph().out_edges(v).size());
    });
    sends.reserve(most_edges);
  }

  const Problem& problem;
  Stop* stop;
  // One per execution; serial execution needs neither.
  std::optional<EventEngine> engine;
  std::optional<StagedSimulator> staged;
  Bottleneck bottleneck;
  MemoryMeter memory;
  std::vector<SerialSend> sends;  // scratch of serial execution
  Timeline timeline;
};

Simulator::Simulator(const Problem& problem, Stop* stop)
    : work_(std::make_unique<Workspace>(problem, stop)) {}
Simulator::~Simulator() = default;
Simulator::Simulator(Simulator&&) noexcept = default;
Simulator& Simulator::operator=(Simulator&&) noexcept = default;

double Simulator::makespan_us(std::span<const uint32_t> assignment, const Division& division,
                              double cutoff_us) {
  if (stopped(work_->stop)) return kNever;
  if (work_->staged) {
    return division.empty() ? work_->staged->run(assignment, cutoff_us)
                            : work_->staged->run(assignment, division, cutoff_us);
  }
  if (!work_->engine) {
    const bool done =
        run_serially(work_->problem, assignment, false, work_->sends, work_->timeline, work_->stop);
    return done ? work_->timeline.makespan_us : kNever;
  }
  work_->engine->record_transfers(false);
  return work_->engine->run(assignment) ? work_->engine->makespan_us() : kNever;
}

std::span<const double> Simulator::start_us() const {
  if (work_->staged) return work_->staged->start_us();
  return work_->engine ? work_->engine->start_us() : work_->timeline.start_us;
}

std::span<const double> Simulator::finish_us() const {
  if (work_->staged) return work_->staged->finish_us();
  return work_->engine ? work_->engine->finish_us() : work_->timeline.finish_us;
}

uint32_t Simulator::stage_count() const {
  return work_->staged ? work_->staged->stage_count() : 0;
}

// Occupation of every device, gaps included.
static void fill_busy_times(const Problem& problem, std::span<const uint32_t> assignment,
                            Timeline& timeline, Stop* stop) {
  timeline.device_busy_us.assign(problem.device_count(), 0);
  for (uint32_t v = 0; v < problem.node_count(); ++v) {
    timeline.device_busy_us[assignment[v]] += problem.occupied_us(v, assignment[v]);
    if (spend(stop, 1)) return;
  }
}

const Timeline& Simulator::run(std::span<const uint32_t> assignment, const Division& division) {
  run_below(kNever, assignment, division);
  find_bottleneck(assignment);
  return work_->timeline;
}

const Timeline* Simulator::run_below(double cutoff_us, std::span<const uint32_t> assignment,
                                     const Division& division) {
  Timeline& timeline = work_->timeline;
  if (!simulate(cutoff_us, assignment, division)) return nullptr;
  if (stopped(work_->stop)) return &timeline;
  work_->memory.peaks(assignment, timeline, timeline.peak_memory_bytes);
  if (work_->staged && division.empty()) divide_to_fit(assignment);
  return &timeline;
}

// After simulate() and peaks(): where that division overflows, the one of the rules' that does the
// least, ties to the smaller objective.
void Simulator::divide_to_fit(std::span<const uint32_t> assignment) {
  Timeline& timeline = work_->timeline;
  StagedSimulator& staged = *work_->staged;
  const auto overflow = [&] { return overflow_bytes(work_->problem, timeline.peak_memory_bytes); };
  std::pair least(overflow(), staged.objective_us());
  if (least.first == 0 || staged.stage_count() <= 1) return;
  const auto run = [&](StageRule rule) {
    if (!staged.run_by(rule, assignment)) return false;
    staged.describe(timeline);
    if (stopped(work_->stop)) return false;
    work_->memory.peaks(assignment, timeline, timeline.peak_memory_bytes);
    return !stopped(work_->stop);
  };
  const StageRule* best = nullptr;
  for (const StageRule& rule : kStageRules) {
    if (!run(rule)) return;
    const std::pair found(overflow(), staged.objective_us());
    if (best != nullptr && !(found < least)) continue;
    least = found;
    best = &rule;
  }
  if (best != std::end(kStageRules) - 1) run(*best);
}

double Simulator::bottleneck_us(std::span<const uint32_t> assignment, const Division& division) {
  if (work_->staged) {
    makespan_us(assignment, division);
    return stopped(work_->stop) ? kNever : work_->staged->objective_us();
  }
  find_bottleneck(assignment);
  return stopped(work_->stop) ? kNever : work_->timeline.bottleneck_us;
}

std::span<const uint32_t> Simulator::busiest() const {
  return work_->staged ? work_->staged->busiest() : work_->bottleneck.busiest();
}

// Under staged execution after simulate(), which leaves what stages take; else nothing is needed.
void Simulator::find_bottleneck(std::span<const uint32_t> assignment) {
  Timeline& timeline = work_->timeline;
  if (stopped(work_->stop)) return;
  if (!work_->staged) fill_busy_times(work_->problem, assignment, timeline, work_->stop);
  timeline.bottleneck_us = work_->bottleneck.find(assignment, timeline.device_busy_us,
                                                  timeline.channel_busy_us, work_->stop);
}

bool Simulator::simulate(double cutoff_us, std::span<const uint32_t> assignment,
                         const Division& division) {
  Timeline& timeline = work_->timeline;
  if (stopped(work_->stop)) return true;
  const auto is_late = [cutoff_us](double makespan_us) {
    return makespan_us >= cutoff_us && cutoff_us < kNever;
  };
  if (work_->staged) {
    if (is_late(makespan_us(assignment, division, cutoff_us))) return false;
    if (!stopped(work_->stop)) work_->staged->describe(timeline);
  } else if (!work_->engine) {
    run_serially(work_->problem, assignment, true, work_->sends, timeline, work_->stop);
    if (is_late(timeline.makespan_us)) return false;
  } else {
    EventEngine& engine = *work_->engine;
    engine.record_transfers(true);
    if (!engine.run(assignment)) return true;
    if (is_late(engine.makespan_us())) return false;
    timeline.makespan_us = engine.makespan_us();
    timeline.drain_us = engine.drain_us();
    std::copy(engine.start_us().begin(), engine.start_us().end(), timeline.start_us.begin());
    std::copy(engine.finish_us().begin(), engine.finish_us().end(), timeline.finish_us.begin());
    for (uint32_t v = 0; v < assignment.size(); ++v) timeline.order[engine.dispatch_index(v)] = v;
    timeline.transfers.swap(engine.transfers());
  }
  return true;
}

Division recorded_division(const Timeline& timeline) {
  Division division{timeline.stage_of, {}, timeline.stage_order};
  for (const StageSlice& stage : timeline.stages) division.device.push_back(stage.device);
  return division;
}

Timeline Simulator::take_timeline() && {
  return std::move(work_->timeline);
}

}  // namespace placeto
