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
      : problem_(&problem),
        stop_(stop),
        free_(problem, stop),
        device_(problem.group_count()),
        heaviest_(problem.group_count(), kNoIndex) {
    find_heaviest();
  }

  const FreeNodes& free_nodes() const { return free_; }
  void clear() { std::fill(device_.begin(), device_.end(), kNoIndex); }
  uint32_t operator[](uint32_t group) const { return device_[group]; }
  uint32_t& operator[](uint32_t group) { return device_[group]; }
  std::span<const uint32_t> all() const { return device_; }

  // The member of the node's group that takes longest; of equals the node itself. That one has to
  // say where the group goes first: a light one that is met before it, a constant perhaps, could
  // start anywhere. What it needs may not be placed yet, and counts for nothing then.
  uint32_t heaviest_beside(uint32_t node) const {
    const uint32_t heaviest = heaviest_[problem_->group_of(node)];
    const bool is_known = heaviest != kNoIndex;  // not if it was stopped
    return is_known && problem_->fastest_us(heaviest) > problem_->fastest_us(node) ? heaviest
                                                                                   : node;
  }

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
      const bool may = problem_->allowed(follower, device);
      take(follower, may ? device : problem_->next_allowed(follower, 0), schedule, plan);
    }
  }

 private:
  void find_heaviest() {
    for (uint32_t v = 0; v < problem_->node_count(); ++v) {
      uint32_t& heaviest = heaviest_[problem_->group_of(v)];
      if (heaviest == kNoIndex || problem_->fastest_us(v) > problem_->fastest_us(heaviest))
        heaviest = v;
      if (spend(stop_, 2 * problem_->class_count())) return;
    }
  }
  void take(uint32_t group, uint32_t device, ListSchedule& schedule, MemoryPlan& plan) {
    device_[group] = device;
    plan.take(group, device);
    free_.each_free_member(group, [&](uint32_t v) { schedule.place_free(v, device); });
    spend(stop_, 1);
  }

  const Problem* problem_;
  Stop* stop_;
  FreeNodes free_;
  std::vector<uint32_t> device_;    // by group
  std::vector<uint32_t> heaviest_;  // the first member that takes longest
};

}  // namespace placeto
