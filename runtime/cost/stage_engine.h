// StageEngine: runs the stages of a division, event by event, by the rules of staged.h.
#pragma once

#include <compare>
#include <span>
#include <vector>

#include "runtime/cost/cut_sender.h"
#include "runtime/cost/priced_division.h"
#include "runtime/cost/problem.h"
#include "runtime/cost/ready_stages.h"
#include "runtime/cost/simulator.h"

namespace placeto {

// What a run says beside the times of its stages.
struct StagedRun {
  std::vector<uint32_t> started;  // stages in the order in which they did
  std::vector<TransferSlice> transfers;
  double makespan_us = 0, drain_us = 0;

  explicit StagedRun(const Problem& problem);  // with room for every run
};

// Not shareable between threads; the problem must outlive it. No call allocates.
class StageEngine {
 public:
  explicit StageEngine(const Problem& problem, Stop* stop = nullptr);

  // The stages get their times. Returns the makespan, and infinity as soon as that is sure to reach
  // the cutoff, or once stopped.
  double run(std::span<const uint32_t> assignment, double cutoff_us, PricedDivision& priced,
             StagedRun& run);

 private:
  struct Event {
    double time;
    uint32_t arrival;  // 0: a stage ends, 1: the last cut that a stage reads arrives
    uint32_t index;    // of the device whose stage ends, of the stage that reads
    // Earliest first, ends before arrivals, then by index.
    auto operator<=>(const Event&) const = default;
  };
  void find_what_is_left(std::span<const uint32_t> assignment, PricedDivision& priced);
  void end_stage(uint32_t stage, PricedDivision& priced);
  void push(Event event);
  Event pop();

  const Problem& problem_;
  Stop* stop_;
  std::vector<Event> events_;           // binary heap
  std::vector<double> device_left_us_;  // of stages that have not started
  ReadyStages ready_;
  CutSender sender_;
};

}  // namespace placeto
