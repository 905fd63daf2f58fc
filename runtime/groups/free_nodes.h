// Free nodes: constants, and what is made of them in no time. They look as if they fitted on any
// idle device, and would take what they are colocated with, or what reads them, along. So nobody
// decides about them: they belong to the group of the reader that is needed first, by upward rank,
// and go where it goes. List schedules, windows and hierarchies ask here.
#pragma once

#include <span>
#include <vector>

#include "runtime/cost/problem.h"

namespace placeto {

// The problem must outlive it. Incomplete once stopped.
class FreeNodes {
 public:
  explicit FreeNodes(const Problem& problem, Stop* stop = nullptr);

  // Takes no time anywhere, and waits for nothing else.
  bool contains(uint32_t node) const { return !free_.empty() && free_[node]; }
  // The group that decides where this one goes: itself, unless all of its members are free.
  uint32_t decider(uint32_t group) const { return decider_.empty() ? group : decider_[group]; }
  // The groups that it decides about, without itself; ascending.
  std::span<const uint32_t> followers(uint32_t group) const {
    if (begin_.empty()) return {};
    return {followers_.data() + begin_[group], followers_.data() + begin_[group + 1]};
  }
  // Free members of the group.
  template <class Visit>
  void each_free_member(uint32_t group, Visit visit) const {
    if (has_free_.empty() || !has_free_[group]) return;
    for (const uint32_t v : problem_->members(group)) {
      if (free_[v]) visit(v);
    }
  }

 private:
  bool find(std::vector<uint32_t>& reader, Stop* stop);
  void list_followers(Stop* stop);

  const Problem* problem_;
  std::vector<bool> free_, has_free_;  // by node, by group; empty: none is free
  std::vector<uint32_t> decider_;      // by group
  std::vector<uint32_t> followers_, begin_;
};

}  // namespace placeto
