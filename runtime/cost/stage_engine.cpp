#include "runtime/cost/stage_engine.h"

#include <algorithm>
#include <functional>

#include "runtime/base/no_index.h"
#include "runtime/cost/rounding.h"

namespace placeto {

StagedRun::StagedRun(const Problem& problem) {
  started.reserve(problem.node_count());
  transfers.reserve(problem.graph().edge_count());
}

StageEngine::StageEngine(const Problem& problem, Stop* stop)
    : problem_(problem),
      stop_(stop),
      device_left_us_(problem.device_count()),
      ready_(problem.device_count(), problem.node_count(), ranks_stages(problem), stop),
      sender_(problem, stop) {
  events_.reserve(size_t{problem.graph().edge_count()} + problem.device_count());
}

// The longest way to the end of the run, if nothing waits for a device or a channel; from the last
// stage to the first, since dependencies lead to higher numbers.
void StageEngine::find_what_is_left(std::span<const uint32_t> assignment, PricedDivision& priced) {
  const std::vector<uint32_t>& device_of = priced.division.device;
  for (uint32_t s = priced.division.stage_count(); s-- > 0;) {
    double behind_us = 0;
    for (uint32_t c = priced.stages[s].first_cut; c != kNoIndex; c = priced.cuts[c].next) {
      const StageCut& cut = priced.cuts[c];
      CutWay way(problem_, assignment, cut.output, device_of[s]);
      for (uint32_t i = cut.reader_begin; i < cut.reader_end; ++i) {
        const uint32_t reader = priced.readers[i];
        behind_us = std::max(behind_us, way.us(device_of[reader]) + priced.stages[reader].left_us);
      }
      if (spend(stop_, 1 + cut.reader_end - cut.reader_begin)) return;
    }
    priced.stages[s].left_us = priced.stages[s].taken_us() + behind_us;
    if (spend(stop_, 1)) return;
  }
}

double StageEngine::run(std::span<const uint32_t> assignment, double cutoff_us,
                        PricedDivision& priced, StagedRun& run) {
  const double latest_us = rounded_up(cutoff_us);
  run.makespan_us = kNever;
  const double busiest_us = *std::max_element(priced.busy_us.begin(), priced.busy_us.end());
  if (stopped(stop_) || busiest_us > latest_us) return kNever;
  events_.clear();
  run.started.clear();
  run.transfers.clear();
  ready_.begin(priced.stages, priced.division);
  sender_.begin(assignment, run.transfers);
  const bool may_be_late = cutoff_us < kNever;
  if (may_be_late) {
    find_what_is_left(assignment, priced);
    device_left_us_ = priced.busy_us;
  }
  bool late = false;
  for (uint32_t s = 0; s < priced.stages.size(); ++s) {
    StageRun& stage = priced.stages[s];
    stage.ready_us = 0;
    stage.unsent = stage.missing;
    stage.waits = stage.missing != 0;
    if (stage.waits) continue;
    ready_.arrive(s, 0);
    late |= may_be_late && stage.left_us > latest_us;
    if (spend(stop_, 1)) return kNever;
  }
  double last_end_us = 0, last_event_us = 0;
  for (double now = 0; !late;) {
    ready_.take([&](uint32_t device, uint32_t s) {
      StageRun& stage = priced.stages[s];
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
      if (spend(stop_, 1)) return kNever;
      const Event event = pop();
      if (event.arrival != 0) {
        priced.stages[event.index].waits = false;
        ready_.arrive(event.index, now);
        continue;
      }
      last_end_us = std::max(last_end_us, now);
      end_stage(ready_.end(event.index), priced);
    }
    last_event_us = std::max(last_event_us, now);
  }
  if (late) return kNever;
  run.drain_us = std::max(last_event_us, sender_.idle_us());
  return run.makespan_us = last_end_us;
}

// What leaves it sets out.
void StageEngine::end_stage(uint32_t stage, PricedDivision& priced) {
  const std::vector<uint32_t>& device_of = priced.division.device;
  const double now = priced.stages[stage].end_us;
  for (uint32_t c = priced.stages[stage].first_cut; c != kNoIndex; c = priced.cuts[c].next) {
    const StageCut& cut = priced.cuts[c];
    const std::span<const uint32_t> readers{priced.readers.data() + cut.reader_begin,
                                            priced.readers.data() + cut.reader_end};
    const bool control = cut.output == kControlEdge;
    if (!control) sender_.send(cut.output, readers, device_of, now);
    for (uint32_t reader : watched(readers, stop_)) {
      StageRun& next = priced.stages[reader];
      const double arrival_us = control ? now : sender_.arrival_us(device_of[reader]);
      next.ready_us = std::max(next.ready_us, arrival_us);
      if (--next.unsent == 0) push({next.ready_us, 1, reader});
    }
    if (spend(stop_, 1 + readers.size())) return;
  }
}

void StageEngine::push(Event event) {
  events_.push_back(event);
  std::ranges::push_heap(events_, std::greater{});
}

StageEngine::Event StageEngine::pop() {
  std::ranges::pop_heap(events_, std::greater{});
  const Event event = events_.back();
  events_.pop_back();
  return event;
}

}  // namespace placeto
