// The cost model: what happens, and when, if a graph runs with a given placement.
//
// The default rules (contention egress, transfer broadcast, execution parallel, dispatch fifo) are
// those of the event-driven simulator published with Placeto, reproduced event by event.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "runtime/cost/problem.h"
#include "runtime/cost/stages.h"

namespace placeto {

// One occupation of a channel by one output.
struct TransferSlice {
  static constexpr uint32_t kBroadcast = 0xffffffffu;
  uint32_t output;
  uint32_t channel;
  uint32_t destination;  // device, or kBroadcast: every device with a consumer
  double start_us;
  double end_us;      // the channel is free again gap_us later
  double arrival_us;  // end, plus the link's latency under unicast
};

// One stage of staged execution.
struct StageSlice {
  uint32_t device;
  double start_us, end_us;
};

// The whole predicted run.
struct Timeline {
  double makespan_us = 0;                   // last finish
  double drain_us = 0;                      // last event of any kind
  std::vector<double> start_us, finish_us;  // per node
  std::vector<uint32_t> order;              // nodes, those of a device as they start there
  std::vector<TransferSlice> transfers;     // in the order they start on their channel
  std::vector<uint64_t> peak_memory_bytes;  // per device
  std::vector<double> device_busy_us;       // run times and gaps after them, per device
  std::vector<double> channel_busy_us;      // transfers and gaps after them, per channel
  double bottleneck_us = 0;                 // 1 / throughput when pipelined (bottleneck.h)
  // Staged execution alone (staged.h); else empty.
  std::vector<uint32_t> stage_of;     // per node
  std::vector<StageSlice> stages;     // by number
  std::vector<uint32_t> stage_order;  // every stage, in the order in which they start
};

// How the run was divided, and in which order; empty unless staged.
Division recorded_division(const Timeline& timeline);

// Simulates placements of one problem again and again. Owns a workspace that is sized once: no call
// after the first `run` allocates, nor any makespan. Not shareable between threads; the problem
// must outlive it.
class Simulator {
 public:
  // Once stopped it simulates nothing any more, and what a call returns that was stopped or came
  // later is incomplete: `stop` tells.
  explicit Simulator(const Problem& problem, Stop* stop = nullptr);
  ~Simulator();
  Simulator(Simulator&&) noexcept;
  Simulator& operator=(Simulator&&) noexcept;

  // Makespan in microseconds; infinity if a node is on a device that cannot run it, and if stopped.
  // `assignment` has one device index per node. Under staged execution it is divided as given, or
  // by the best rule if that is empty, whether or not it fits in memory; what is sure not to be
  // below `cutoff_us` may come back as infinity, and the times are then not to be asked for.
  double makespan_us(std::span<const uint32_t> assignment, const Division& division = {},
                     double cutoff_us = kNever);

  // Times of the last makespan_us or run, per node.
  std::span<const double> start_us() const;
  std::span<const double> finish_us() const;

  // How many stages the last makespan_us or run that was not late had, under staged execution; 0
  // under others.
  uint32_t stage_count() const;

  // Objective::kThroughput: the bottleneck of a placement, divided as given under staged execution,
  // or by the best rule if that is empty, memory not looked at. Infinity once stopped. In other
  // executions nothing is simulated: times of nodes are not to be asked for.
  double bottleneck_us(std::span<const uint32_t> assignment, const Division& division = {});
  // The devices of the bottleneck that was found last (bottleneck.h).
  std::span<const uint32_t> busiest() const;

  // The complete timeline, with transfers and memory. Valid until the next call. Under staged
  // execution, divided as given, which fits the assignment. If that is empty, by the rule that
  // overflows memory the least, among equals the one with the smallest objective, then the first.
  // In other executions stages mean nothing.
  const Timeline& run(std::span<const uint32_t> assignment, const Division& division = {});
  // The same but for busy times and the bottleneck; nullptr where the makespan is sure not to be
  // below `cutoff_us`: then memory, which takes longest, is not looked at. Either, once stopped.
  const Timeline* run_below(double cutoff_us, std::span<const uint32_t> assignment,
                            const Division& division = {});
  // That of the last run, not copied: of a large graph this takes milliseconds.
  Timeline take_timeline() &&;

 private:
  // Fills the timeline, but for memory, busy times and the bottleneck; false where it is late.
  bool simulate(double cutoff_us, std::span<const uint32_t> assignment, const Division& division);
  void divide_to_fit(std::span<const uint32_t> assignment);
  void find_bottleneck(std::span<const uint32_t> assignment);

  struct Workspace;
  std::unique_ptr<Workspace> work_;
};

}  // namespace placeto
