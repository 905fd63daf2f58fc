// The devices that a list schedule has given to groups so far. What a group decides about
// (free_nodes.h) goes with it.
#pragma once

#include <algorithm>
#include <vector>

#include "runtime/base/no_index.h"
#include "runtime/groups/free_nodes.h"
#include "runtime/heuristics/list_schedule.h"
#include "runtime/heuristics/memory_plan.h"

namespace placeto {

// Not shareable between threads. The problem must outlive it.
class GroupDevices {
 public:
  explicit GroupDevices(const Problem& problem, Stop* stop = nullptr)
      : problem_(&problem), stop_(stop), free_(problem, stop), device_(problem.group_count()) {}

  const FreeNodes& free_nodes() const { return free_; }
  void clear() { std::fill(device_.begin(), device_.end(), kNoIndex); }
  uint32_t operator[](uint32_t group) const { return device_[group]; }
  uint32_t& operator[](uint32_t group) { return device_[group]; }
  std::span<const uint32_t> all() const { return device_; }

  // Bytes of the group and what follows it; 0 where memory is not limited.
  double footprint(uint32_t group, const MemoryPlan& plan) const {
    if (!plan.limited()) return 0;
    double bytes = plan.footprint(group);
    for (const uint32_t follower : watched(free_.followers(group), stop_)) {
      bytes += plan.footprint(follower);
    }
    return bytes;
  }

  // The group has this device from now on, and what follows it, too, where rules allow it. Their
  // free nodes are there from the beginning.
  void give(uint32_t group, uint32_t device, ListSchedule& schedule, MemoryPlan& plan) {
    take(group, device, schedule, plan);
    for (const uint32_t follower : watched(free_.followers(group), stop_)) {
      uint32_t there = device;
      for (uint32_t d = 0; !problem_->allowed(follower, there); ++d) there = d;
      take(follower, there, schedule, plan);
    }
  }

 private:
  void take(uint32_t group, uint32_t device, ListSchedule& schedule, MemoryPlan& plan) {
    device_[group] = device;
    plan.take(group, device);
    free_.each_free_member(group, [&](uint32_t v) { schedule.place_free(v, device); });
    spend(stop_, 1);
  }

  const Problem* problem_;
  Stop* stop_;
  FreeNodes free_;
  std::vector<uint32_t> device_;  // by group
};

}  // namespace placeto
