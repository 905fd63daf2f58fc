// ReadyStages: which stage each device takes next, under staged execution (staged.h).
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "runtime/base/no_index.h"
#include "runtime/base/stop.h"
#include "runtime/cost/stages.h"

namespace placeto {

// A stage: what it takes, which all runs have in common, and its part in one of them.
struct StageRun {
  double head_us = 0, work_us = 0, tail_us = 0;   // what enters, nodes, what leaves
  double rank = 0;                                // for dispatch: priority
  double ready_us = 0, start_us = 0, end_us = 0;  // ready_us: as far as is known
  double left_us = 0;                             // at least, from its start to the end of the run
  uint32_t missing = 0;                           // arrivals, all of them
  uint32_t unsent = 0;                            // of them, those that are not on their way
  bool waits = false;                             // for one of them
  uint32_t first_cut = kNoIndex;                  // that leaves it
  uint32_t child = kNoIndex, sibling = kNoIndex;  // in the heap of ready stages of its device
  double taken_us() const { return (head_us + work_us) + tail_us; }
};

// Each device takes its part of the recorded order, or keeps a heap of ready stages: pairing heaps.
// Fredman, Sedgewick, Sleator and Tarjan, "The pairing heap", 1986.
class ReadyStages {
 public:
  ReadyStages(uint32_t devices, uint32_t most_stages, bool by_rank, Stop* stop)
      : by_rank_(by_rank), stop_(stop), devices_(devices) {
    touched_.reserve(devices);
    sequence_.reserve(most_stages);
  }

  // Begins another run. Both stay with the caller.
  void begin(std::span<StageRun> stages, const Division& division) {
    stages_ = stages;
    division_ = &division;
    touched_.clear();
    sequence_.clear();
    std::fill(devices_.begin(), devices_.end(), Device{});
    if (!division.order.empty()) list_sequence();
  }

  // The last thing that the stage waited for is there.
  void arrive(uint32_t stage, double now) {
    const uint32_t device = division_->device[stage];
    touch(device);
    if (ordered()) return;
    StageRun& ready = stages_[stage];
    ready.ready_us = now;
    ready.child = ready.sibling = kNoIndex;
    devices_[device].ready = meld(devices_[device].ready, stage);
  }

  // Every device that is free, where something happened since, takes a stage if it has one ready:
  // start(device, stage), by ascending device.
  template <class Start>
  void take(const Start& start) {
    std::sort(touched_.begin(), touched_.end());
    for (uint32_t d : touched_) {
      Device& device = devices_[d];
      device.touched = false;
      if (device.running != kNoIndex) continue;
      device.running = next_of(device);
      if (device.running != kNoIndex) start(d, device.running);
    }
    touched_.clear();
  }

  // The device's stage has ended. Returns it.
  uint32_t end(uint32_t device) {
    touch(device);
    return std::exchange(devices_[device].running, kNoIndex);
  }

 private:
  struct Device {
    uint32_t running = kNoIndex, ready = kNoIndex;
    uint32_t next = 0, end = 0;  // in sequence_
    bool touched = false;        // is in touched_
  };

  bool ordered() const { return !division_->order.empty(); }

  void touch(uint32_t device) {
    if (devices_[device].touched) return;
    devices_[device].touched = true;
    touched_.push_back(device);
  }

  // Each device's part of the recorded order, device after device.
  void list_sequence() {
    for (uint32_t device : division_->device) ++devices_[device].end;
    uint32_t first = 0;
    for (Device& device : devices_) {
      device.next = first;
      first += device.end;
      device.end = device.next;
    }
    sequence_.resize(division_->order.size());
    for (uint32_t s : division_->order) sequence_[devices_[division_->device[s]].end++] = s;
  }

  uint32_t next_of(Device& device) {
    if (ordered()) {
      const bool waits = device.next == device.end || stages_[sequence_[device.next]].waits;
      return waits ? kNoIndex : sequence_[device.next++];
    }
    const uint32_t first = device.ready;
    if (first != kNoIndex) device.ready = without_first(first);
    return first;
  }

  bool before(uint32_t a, uint32_t b) const {
    const StageRun &x = stages_[a], &y = stages_[b];
    if (by_rank_ && x.rank != y.rank) return x.rank > y.rank;
    if (!by_rank_ && x.ready_us != y.ready_us) return x.ready_us < y.ready_us;
    return a < b;
  }

  uint32_t meld(uint32_t a, uint32_t b) {
    if (a == kNoIndex) return b;
    if (b == kNoIndex) return a;
    if (before(b, a)) std::swap(a, b);
    stages_[b].sibling = stages_[a].child;
    stages_[a].child = b;
    return a;
  }

  // Pairs from left to right, then all of them together from right to left. Not all of the heap,
  // once stopped.
  uint32_t without_first(uint32_t root) {
    uint32_t pairs = kNoIndex;
    for (uint32_t a = stages_[root].child; a != kNoIndex;) {
      const uint32_t b = stages_[a].sibling;
      const uint32_t rest = b == kNoIndex ? kNoIndex : stages_[b].sibling;
      const uint32_t pair = meld(a, b);
      stages_[pair].sibling = pairs;
      pairs = pair;
      a = rest;
      if (spend(stop_, 1)) break;
    }
    uint32_t heap = kNoIndex;
    while (pairs != kNoIndex) {
      const uint32_t rest = stages_[pairs].sibling;
      heap = meld(heap, pairs);
      pairs = rest;
      if (spend(stop_, 1)) break;
    }
    return heap;
  }

  bool by_rank_;
  Stop* stop_;
  std::span<StageRun> stages_;
  const Division* division_ = nullptr;
  std::vector<Device> devices_;
  std::vector<uint32_t> touched_;   // devices that may take a stage now
  std::vector<uint32_t> sequence_;  // the recorded order, device after device
};

}  // namespace placeto
