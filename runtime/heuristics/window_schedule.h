// WindowSchedule: a list schedule that starts in the middle of a simulated run, and tells how much
// later what follows the window would then start, every device and channel keeping its order. On
// large graphs a window behind which everything could start earlier shortens the run in four cases
// of ten, another in one of twenty-five (tests/bench/results).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "runtime/heuristics/list_schedule.h"
#include "runtime/timeline/queues.h"

namespace placeto {

// Positions [begin, end) of an order.
struct Window {
  uint32_t begin, end;
};

class WindowSchedule : public ListSchedule {
 public:
  using ListSchedule::ListSchedule;

  // Takes over a run, which is to stay as it is until the next one is loaded. Incomplete once
  // stopped.
  void load(const Queues& run);

  // Takes the nodes of a window out, to be placed in order; close() puts them back where they were.
  // Once stopped, neither is done in full, and the schedule is of no more use.
  void open(Window window);
  void close();

  // A free node that goes with what was placed, until the window is closed.
  void carry(uint32_t node, uint32_t device) {
    place_free(node, device);
    carried_.push_back(node);
  }

  // With the window placed up to position `end`: by how much the latest of what follows starts
  // later than it can without a longer run; negative if the run may become shorter. Members that
  // follow their group out of the window count as if they ran where they did. `group_device`: where
  // groups are now, kNoIndex for those that stay. The rest of the window may be placed after it.
  // Nothing else is looked at once that is `enough_us`.
  double lateness_behind_us(uint32_t end, std::span<const uint32_t> group_device,
                            double enough_us = kNever);

  // Whether the node that was placed last makes what is next on its device behind the window, or
  // the end of the run, late by that much. Then lateness_behind_us is as much from here on, at any
  // end, wherever the rest of the window goes. Readers are not asked: that takes as long as it
  // saves.
  bool is_late(uint32_t node, double late_us) const;

  const Queues& run() const { return *run_; }

 private:
  double lateness_of_devices_us(uint32_t end) const;
  double lateness_of_transfers_us(uint32_t end, std::span<const uint32_t> group_device,
                                  double enough_us);
  double lateness_of_us(uint32_t node, uint32_t end, std::span<const uint32_t> group_device);
  void restore(uint32_t output, uint32_t device);

  struct Scratch {
    std::vector<double> kept_channel_free;  // what sends behind the window change
    std::vector<uint32_t> sent;             // slots filled by them
  };

  const Queues* run_ = nullptr;
  Window window_{0, 0};
  std::vector<uint32_t> carried_;
  std::vector<double> due_behind_us_;  // per device: latest start of its next node behind
  Scratch scratch_;
};

}  // namespace placeto
