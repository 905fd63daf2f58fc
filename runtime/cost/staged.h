// `execution: staged`: engines that run the nodes of a device in sessions, one after another.
//
// A *cut* is a distinct tensor that passes between two stages, of different devices or of the same
// one. It is charged once to the stage that makes it and once to each stage that reads it.
//
// - A stage starts when its device is free and every cut that enters it has arrived, as has what
//   control edges order before it. It takes stage_us + the run times of its nodes + for each cut
//   that enters or leaves it cut_us + bytes / cut_bytes_per_us, all of its device. Its nodes run
//   back to back in topological order: what enters is paid for before them, what leaves after them.
// - All its outputs leave when it ends. At that moment they arrive at stages of the same device and
//   join their channels in the order of their numbers (under unicast once for each destination, by
//   device), where they take what transfers take in parallel execution, waits and gaps included.
//   Stages that end at the same time do so in the order of their devices.
// - A free device takes the next stage of the recorded order, as soon as that is ready; without an
//   order, the stage that was ready first; of stages that became ready at the same time, the one of
//   the lowest number. Under `dispatch: priority` it is the one with the highest upward rank of any
//   of its nodes, ties to the lower number. Whatever happens at a time happens before devices
//   choose.
// - op_gap_us has no part in it: stage_us is what starting costs.
#pragma once

#include <span>
#include <vector>

#include "runtime/base/no_index.h"
#include "runtime/cost/bottleneck.h"
#include "runtime/cost/cut_sender.h"
#include "runtime/cost/problem.h"
#include "runtime/cost/ready_stages.h"
#include "runtime/cost/simulator.h"
#include "runtime/cost/stages.h"

namespace placeto {

// The compiled form of a problem that stages are formed on.
class StageTables {
 public:
  explicit StageTables(const Problem& problem, Stop* stop = nullptr);  // incomplete once stopped
  StageGraph graph() const { return {order_, begin_, target_}; }
  // Nodes and edges, for Stop::spend.
  uint64_t work() const { return order_.size() + target_.size(); }

 private:
  std::span<const uint32_t> order_;
  std::vector<uint32_t> begin_, target_;
};

class StagedSimulator {
 public:
  explicit StagedSimulator(const Problem& problem, Stop* stop = nullptr);

  // Runs the placement under each rule of division and keeps the better: the one with the smaller
  // objective, ties to the first rule. Returns its makespan; infinity if stopped. Where the
  // makespan is sure to reach `cutoff_us` it may come back as infinity, and then nothing else
  // holds.
  double run(std::span<const uint32_t> assignment, double cutoff_us);
  // Runs the placement divided in this way. The division fits it.
  double run(std::span<const uint32_t> assignment, const Division& division, double cutoff_us);

  // Of the last run, per node.
  std::span<const double> start_us() { return times().start_us; }
  std::span<const double> finish_us() { return times().finish_us; }
  // All of the timeline but memory. Hands the transfers over: not twice after one run.
  void describe(Timeline& timeline);

  // No run has more transfers.
  size_t most_transfers() const { return most_transfers_; }

 private:
  // A distinct tensor that leaves a stage, or a control edge to another one.
  struct Cut {
    uint32_t output, reader_begin, reader_end;
    uint32_t next;  // of the same stage
  };
  struct Event {
    double time;
    uint32_t arrival;  // 0: a stage ends, 1: the last cut that a stage reads arrives
    uint32_t index;    // of the device whose stage ends, of the stage that reads
  };
  struct Cuts {  // of the run that is being made
    std::vector<Cut> list;
    std::vector<uint32_t> readers;  // stages, of each cut
    std::vector<uint32_t> seen;     // per stage: the last output that it was found to read
  };
  // A run and all that it says. There is one for each rule, so that the better can be kept.
  struct Run {
    Division division;
    std::vector<StageRun> stages;
    std::vector<uint32_t> started;  // stages in the order in which they did
    std::vector<TransferSlice> transfers;
    std::vector<double> device_busy_us, channel_busy_us;
    double makespan_us = 0, drain_us = 0, objective_us = 0;
  };
  double evaluate(std::span<const uint32_t> assignment, double cutoff_us, Run& run);
  void compile(std::span<const uint32_t> assignment, Run& run);
  void find_cuts(Run& run);
  void add_cut(uint32_t output, uint32_t stage, Run& run);
  void add_control(uint32_t reader, uint32_t stage, Run& run);
  double price_us(uint32_t device, uint32_t output) const;
  void find_what_is_left(std::span<const uint32_t> assignment, Run& run);
  bool simulate(std::span<const uint32_t> assignment, double cutoff_us, Run& run);
  void end_stage(uint32_t stage, Run& run);
  void push(Event event);
  Event pop();

  struct Times {
    std::vector<double> start_us, finish_us, done_us;
    bool filled = false;
  };
  const Times& times();

  const Problem* problem_;
  Stop* stop_;
  StageTables tables_;
  StageFormer former_;
  Bottleneck bottleneck_;
  size_t most_transfers_;
  Run runs_[2];
  Run* kept_ = &runs_[0];
  std::vector<uint32_t> assignment_;  // of the last run
  Cuts cuts_;
  std::vector<Event> events_;           // binary heap
  std::vector<double> device_left_us_;  // of stages that have not started
  ReadyStages ready_;
  CutSender sender_;
  Times times_;
};

}  // namespace placeto
