// Memory of a simulated run: who holds how many bytes, where, from when to when (DESIGN 5.3).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "runtime/base/uncleared.h"
#include "runtime/cost/problem.h"
#include "runtime/cost/simulator.h"

namespace placeto {

// Bytes that the device of each group holds at some time beside resident bytes, whatever the
// placement: for that one of its nodes that needs most while it runs, its inputs, outputs and
// workspace. Zeros for groups not looked at once stopped.
std::vector<uint64_t> bytes_while_running(const Problem& problem, Stop* stop = nullptr);

// By how many bytes peaks, one for each device, exceed the limits, all devices together.
uint64_t overflow_bytes(const Problem& problem, std::span<const uint64_t> peak);

// Turns timelines into memory use. Resident bytes count from the start to the end of the run; a
// node's workspace while it runs; each output from its producer's start to the finish of its last
// consumer on that device (or of the producer, if there is none); each received copy from its
// arrival to the finish of its last consumer there. What is freed and what is taken at one instant
// do not overlap: intervals are half open. Times count as they are computed, sums of doubles: what
// is taken and freed at times that are equal but for rounding may overlap by the last bit, and then
// counts as held at once.
//
// A device frees bytes only when a node finishes there, or a stage ends. From one such end to the
// next what it holds only grows, so what it holds is counted just before each end: without sorting,
// as a device runs one node after the other. Keeps its buffers between calls.
class MemoryMeter {
 public:
  // What a device holds for part of the run.
  struct Held {
    uint32_t device;
    double from_us, to_us;
    uint64_t bytes;
  };

  explicit MemoryMeter(const Problem& problem, Stop* stop = nullptr);

  // Peak bytes per device. `timeline` needs times and order of nodes, transfers and stages. False
  // if stopped.
  bool peaks(std::span<const uint32_t> assignment, const Timeline& timeline,
             std::vector<uint64_t>& peak);
  // Of the last peaks(): just before that time the device held most, for the first time. 0 where it
  // never held more than resident bytes.
  double peak_end_us(uint32_t device) const { return peak_end_us_[device]; }

  // All that the next peaks() find held, but for resident bytes, is added there, in no order.
  void list_held(std::vector<Held>& list) { list_ = &list; }
  uint64_t resident_bytes(uint32_t device) const { return resident_[device]; }

 private:
  void list_transfers(std::span<const TransferSlice> transfers);
  void count_resident(std::span<const uint32_t> assignment);
  void list_ends(std::span<const uint32_t> assignment, const Timeline& timeline);
  uint32_t add_end(uint32_t device, double us);
  struct Ends {
    uint32_t first, behind;
  };
  void hold(uint32_t device, double from_us, Ends ends, uint64_t bytes);
  void hold_all(std::span<const uint32_t> assignment, const Timeline& timeline);
  template <class LastRead>
  void hold_copies(std::span<const uint32_t> assignment, const Timeline& timeline, uint32_t output,
                   const LastRead& last_read);
  void hold_copy(uint32_t device, double arrival_us, uint32_t behind, uint64_t bytes);

  const Problem* problem_;
  Stop* stop_;
  std::vector<uint64_t> resident_;
  // Ends on all devices, ascending on each and no two at one time; those of a device are
  // [begin_[device], end_[device]). After each device's comes one that never is.
  std::vector<uint32_t> begin_, end_;
  Uncleared<double> end_us_;
  Uncleared<int64_t> taken_;  // less what was freed, since the end before
  std::vector<uint32_t> end_of_node_, end_of_stage_;
  std::vector<double> peak_end_us_;       // per device
  std::vector<uint32_t> first_transfer_;  // per output; its others follow
  Uncleared<uint32_t> next_transfer_;     // per transfer
  std::vector<uint32_t> behind_last_;     // per device, of the consumers of one output; 0: none
  std::vector<Held>* list_ = nullptr;
};

}  // namespace placeto
