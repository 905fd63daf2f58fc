// Free nodes: constants, and what is made of them in no time. They look as if they fitted on any
// idle device, and would take what they are colocated with, or what reads them, along; so list
// schedules leave them out until those are placed.
#pragma once

#include <vector>

#include "runtime/heuristics/list_schedule.h"
#include "runtime/heuristics/memory_plan.h"

namespace placeto {

// Not shareable between threads. Incomplete once stopped.
class FreeNodes {
 public:
  explicit FreeNodes(const Problem& problem, Stop* stop = nullptr);

  // Takes no time anywhere, and waits for nothing else.
  bool contains(uint32_t node) const { return !free_.empty() && free_[node]; }

  // After `node`, which is none of them, was placed: the free members of its group go there, too,
  // and the free nodes that it reads, unless others of their groups decide about those.
  void follow(uint32_t node, std::vector<uint32_t>& group_device, ListSchedule& schedule,
              MemoryPlan& plan);
  // After all others were placed: those that nobody reads.
  void place_rest(std::vector<uint32_t>& group_device, ListSchedule& schedule, MemoryPlan& plan);

 private:
  void place(uint32_t node, uint32_t wanted, std::vector<uint32_t>& group_device,
             ListSchedule& schedule, MemoryPlan& plan);

  const Problem* problem_;
  Stop* stop_;
  std::vector<bool> free_;           // by node; empty: none
  std::vector<bool> bound_, mixed_;  // by group: some member is not free, some is
  std::vector<uint32_t> waiting_;
};

}  // namespace placeto
