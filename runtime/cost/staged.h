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
// - Equal are times that are computed equal: stages end at start + ((head + work) + tail), nodes
//   start and finish at start + (head + run times so far). Sums in another order, or exact ones
//   of decimals, may break ties otherwise: another stage is first, or another peak of memory.
// - op_gap_us has no part in it: stage_us is what starting costs.
#pragma once

#include <span>
#include <vector>

#include "runtime/cost/bottleneck.h"
#include "runtime/cost/priced_division.h"
#include "runtime/cost/problem.h"
#include "runtime/cost/simulator.h"
#include "runtime/cost/stage_engine.h"
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

  // Runs the placement under each rule of division and keeps the one with the smallest objective,
  // ties to the first rule: memory is for the simulator to look at. Returns its makespan; infinity
  // if stopped. Where the makespan is sure to reach `cutoff_us` it may come back as infinity, and
  // then nothing else holds.
  double run(std::span<const uint32_t> assignment, double cutoff_us);
  // Runs the placement divided by this rule; false if stopped.
  bool run_by(StageRule rule, std::span<const uint32_t> assignment);
  // Runs the placement divided in this way. The division fits it.
  double run(std::span<const uint32_t> assignment, const Division& division, double cutoff_us);

  // What the last run was; times per node.
  std::span<const double> start_us() { return times().start_us; }
  std::span<const double> finish_us() { return times().finish_us; }
  double objective_us() const { return kept_->objective_us; }
  uint32_t stage_count() const { return kept_->priced.division.stage_count(); }
  // Of the division looked at last, for throughput.
  std::span<const uint32_t> busiest() const { return bottleneck_.busiest(); }
  // All of the timeline but memory. Hands the transfers over: not twice after one run.
  void describe(Timeline& timeline);

  // No run has more transfers.
  size_t most_transfers() const { return problem_->graph().edge_count(); }

 private:
  // There is one for each rule, so that the best can be kept.
  struct Divided {
    PricedDivision priced;
    StagedRun run;
    std::vector<double> channel_busy_us{};
    double objective_us = 0;
  };
  double evaluate(std::span<const uint32_t> assignment, double cutoff_us, Divided& divided);

  struct Times {
    std::vector<double> start_us, finish_us, done_us;
    bool filled = false;
  };
  const Times& times();
  void order_nodes(std::vector<uint32_t>& order);

  const Problem* problem_;
  Stop* stop_;
  StageTables tables_;
  StageFormer former_;
  StagePricer pricer_;
  StageEngine engine_;
  Bottleneck bottleneck_;
  Divided divided_[std::size(kStageRules)];
  Divided* kept_ = &divided_[0];
  std::vector<uint32_t> assignment_;  // of the last run
  std::vector<uint32_t> next_;        // position in the order, by stage
  Times times_;
};

}  // namespace placeto
