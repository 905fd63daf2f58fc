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
#include "runtime/cost/problem.h"
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
  double run(std::span<const uint32_t> assignment, const Division& division);

  // Of the last run, per node.
  std::span<const double> start_us() { return times().start_us; }
  std::span<const double> finish_us() { return times().finish_us; }
  // All of the timeline but memory. Hands the transfers over: not twice after one run.
  void describe(Timeline& timeline);

  // No run has more transfers.
  size_t most_transfers() const { return most_readers_; }

 private:
  // A distinct tensor that leaves a stage, or a control edge to another one.
  struct Cut {
    uint32_t output, reader_begin, reader_end;
    uint32_t next;  // of the same stage
  };
  struct Stage {
    double head_us = 0, work_us = 0, tail_us = 0;  // what enters, nodes, what leaves
    double rank = 0;                               // for dispatch: priority
    double ready_us = 0, start_us = 0, end_us = 0;
    uint32_t missing = 0;  // arrivals
    uint32_t first_cut = kNoIndex;
    uint32_t child = kNoIndex, sibling = kNoIndex;  // in the heap of ready stages of its device
    double taken_us() const { return (head_us + work_us) + tail_us; }
  };
  struct Event {
    double time;
    uint32_t arrival;  // 0: a stage ends, 1: a cut arrives
    uint32_t index;    // of the device whose stage ends, of the stage that reads
  };
  // A run and all that it says. There is one for each rule, so that the better can be kept.
  struct Run {
    Division division;
    std::vector<Stage> stages;
    std::vector<uint32_t> started;  // stages in the order in which they did
    std::vector<TransferSlice> transfers;
    std::vector<double> device_busy_us, channel_busy_us;
    double makespan_us = 0, drain_us = 0, objective_us = 0;
  };
  // One heap of ready stages per device (a pairing heap), or the recorded order.
  struct Device {
    uint32_t running = kNoIndex, ready = kNoIndex;
    uint32_t next = 0, end = 0;   // in sequence_
    uint32_t sent_to = kNoIndex;  // the readers of the last cut that was sent there
    bool touched = false;         // is in touched_
  };

  double evaluate(std::span<const uint32_t> assignment, double cutoff_us, Run& run);
  void compile(std::span<const uint32_t> assignment, Run& run);
  void add_cut(uint32_t output, uint32_t stage, Run& run);
  double price_us(uint32_t device, uint32_t output) const;
  bool simulate(std::span<const uint32_t> assignment, Run& run);
  void list_sequence(const Run& run);
  void touch(uint32_t device);
  uint32_t take_next(Device& device, Run& run);
  bool before(uint32_t a, uint32_t b, const Run& run) const;
  uint32_t meld(uint32_t a, uint32_t b, Run& run) const;
  uint32_t without_first(uint32_t root, Run& run) const;
  void arrive(uint32_t stage, double now, Run& run);
  void end_stage(std::span<const uint32_t> assignment, uint32_t stage, Run& run);
  double send(std::span<const uint32_t> assignment, const TransferSlice& what, Run& run);
  void send_to_each(std::span<const uint32_t> assignment, const Cut& cut, uint32_t source,
                    double now, Run& run);
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
  bool ordered_ = false, priority_, unicast_, contended_;
  size_t most_readers_ = 0;
  Bottleneck bottleneck_;
  Run runs_[2];
  Run* kept_ = &runs_[0];
  std::vector<uint32_t> assignment_;  // of the last run
  std::vector<Cut> cuts_;
  std::vector<uint32_t> readers_;  // stages, of each cut
  std::vector<uint32_t> seen_;     // per stage: the last output that it was found to read
  std::vector<Event> events_;      // binary heap
  std::vector<Device> devices_;
  std::vector<uint32_t> touched_;   // devices that may take a stage now
  std::vector<uint32_t> sequence_;  // the recorded order, device after device
  std::vector<double> channel_free_us_;
  std::vector<double> arrival_us_;      // per device: of what is being sent
  std::vector<uint32_t> destinations_;  // devices
  Times times_;
};

}  // namespace placeto
