// What a device holds at the moment when it holds most, and how much of that goes with some of its
// nodes.
#pragma once

#include <span>
#include <vector>

#include "runtime/cost/memory.h"

namespace placeto {

// Not shareable between threads.
class PeakMemory {
 public:
  // The problem must outlive it.
  explicit PeakMemory(const Problem& problem, Stop* stop = nullptr);

  // Takes over a run; both are used until the next one. Incomplete once stopped, and of no more
  // use.
  void load(std::span<const uint32_t> assignment, const Timeline& timeline);

  // By how many bytes the device's peak exceeds its limit, or how many it has left at its peak.
  double excess_bytes(uint32_t device) const;
  double room_bytes(uint32_t device) const { return -excess_bytes(device); }

  // The device that freed_bytes() is asked about next.
  void look_at(uint32_t device);
  // How many bytes less it would hold at that moment without these nodes, which are on it. What
  // others still read there stays, as an output or as a copy of it. What a session holds until it
  // ends, under staged execution, is not counted.
  double freed_bytes(std::span<const uint32_t> nodes);

 private:
  double output_bytes(uint32_t output) const {
    return static_cast<double>(problem_->graph().output_bytes(output));
  }
  bool is_there(const InEdge& in) const;
  bool has_started(uint32_t node) const { return timeline_->start_us[node] < peak_end_us_; }
  bool has_finished(uint32_t node) const { return timeline_->finish_us[node] < peak_end_us_; }

  const Problem* problem_;
  Stop* stop_;
  MemoryMeter meter_;
  std::span<const uint32_t> assignment_;
  const Timeline* timeline_ = nullptr;
  std::vector<uint64_t> peak_;  // per device
  uint32_t device_ = 0;
  double peak_end_us_ = 0;  // just before which it is
  // Per output that is there at that moment: its readers on the device that have not finished, and
  // those of them that leave.
  std::vector<uint32_t> readers_, leaving_;
  std::vector<bool> has_arrived_;  // at the device, by then: per output
  std::vector<bool> leaves_;       // by node; false between calls
};

}  // namespace placeto
