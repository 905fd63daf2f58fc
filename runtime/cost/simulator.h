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

// The whole predicted run.
struct Timeline {
  double makespan_us = 0;                   // last finish
  double drain_us = 0;                      // last event of any kind
  std::vector<double> start_us, finish_us;  // per node
  std::vector<TransferSlice> transfers;     // in the order they start on their channel
  std::vector<uint64_t> peak_memory_bytes;  // per device
  std::vector<double> device_busy_us;       // run times and gaps after them, per device
  std::vector<double> channel_busy_us;      // transfers and gaps after them, per channel
  double bottleneck_us = 0;                 // largest busy time: 1 / throughput when pipelined
};

// Simulates placements of one problem again and again. Owns a workspace that is sized once: no call
// after the first allocates. Not shareable between threads; the problem must outlive it.
class Simulator {
 public:
  // Once stopped it simulates nothing any more, and what a call returns that was stopped or came
  // later is incomplete: `stop` tells.
  explicit Simulator(const Problem& problem, Stop* stop = nullptr);
  ~Simulator();
  Simulator(Simulator&&) noexcept;
  Simulator& operator=(Simulator&&) noexcept;

  // Makespan in microseconds; infinity if a node is on a device that cannot run it, and if stopped.
  // `assignment` has one device index per node.
  double makespan_us(std::span<const uint32_t> assignment);

  // Of the last makespan_us or run, per node.
  std::span<const double> start_us() const;
  std::span<const double> finish_us() const;

  // The complete timeline, with transfers and memory. Valid until the next call.
  const Timeline& run(std::span<const uint32_t> assignment);
  // That of the last run, not copied: of a large graph this takes milliseconds.
  Timeline take_timeline() &&;

 private:
  struct Workspace;
  std::unique_ptr<Workspace> work_;
};

}  // namespace placeto
