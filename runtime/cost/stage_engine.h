// StageEngine: runs the stages of a plan, event by event, by the rules of staged.h.
#pragma once

#include <span>
#include <vector>

#include "runtime/cost/cut_sender.h"
#include "runtime/cost/problem.h"
#include "runtime/cost/ready_stages.h"
#include "runtime/cost/simulator.h"
#include "runtime/cost/stage_plan.h"

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

  // Runs the plan once: its stages get their times. Returns the makespan, and infinity as soon as
  // that is sure to reach the cutoff, or once stopped.
  double run(std::span<const uint32_t> assignment, double cutoff_us, StagePlan& plan,
             StagedRun& run);

 private:
  struct Event {
    double time;
    uint32_t arrival;  // 0: a stage ends, 1: the last cut that a stage reads arrives
    uint32_t index;    // of the device whose stage ends, of the stage that reads
  };
  void find_what_is_left(std::span<const uint32_t> assignment, StagePlan& plan);
  void end_stage(uint32_t stage, StagePlan& plan);
  void push(Event event);
  Event pop();

  const Problem& problem_;
  Stop* stop_;
  std::vector<Event> events_;           // binary heap
  std::vector<double> device_left_us_;  // of stages that have not started
  ReadyStages ready_;
  CutSender sender_;
};

// When nodes run: back to back behind what enters their stage. The sums are those of
// StageRun::taken_us, so the last node of a stage that nothing leaves finishes when the stage ends,
// to the bit. `done_us` is scratch.
template <class StageOf>
void fill_node_times(const Problem& problem, std::span<const uint32_t> assignment,
                     std::span<const StageRun> stages, const StageOf& stage_of,
                     std::vector<double>& done_us, std::span<double> start_us,
                     std::span<double> finish_us, Stop* stop) {
  done_us.assign(stages.size(), 0);
  for (uint32_t v : problem.graph().topological_order()) {
    const uint32_t s = stage_of(v);
    start_us[v] = stages[s].start_us + (stages[s].head_us + done_us[s]);
    done_us[s] += problem.run_us(v, assignment[v]);
    finish_us[v] = stages[s].start_us + (stages[s].head_us + done_us[s]);
    if (spend(stop, 1)) return;
  }
}

// Late is what misses a cutoff by more than this: sums in another order may differ in their last
// bits.
inline constexpr double kSurelyLate = 1 + 1e-9;

}  // namespace placeto
