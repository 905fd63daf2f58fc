// Hierarchy: groups of all sizes, from the problem's own groups, free nodes with those that decide
// about them (level 0), to two that hold everything.
//
// Each level merges pairs of the level below that exchange much for the work they hold (heavy-edge
// matching: Karypis and Kumar, "A fast and high quality multilevel scheme for partitioning
// irregular graphs", SIAM J. Sci. Comput. 1998). Groups that share no allowed device are never
// merged, so a whole group can always move somewhere. Searches move groups; the policy places them
// coarse to fine. Cost is always measured on the ungrouped graph.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "runtime/cost/problem.h"
#include "runtime/groups/group_graph.h"

namespace placeto {

class Hierarchy {
 public:
  // The problem must outlive it. Stops when a level has two groups or hardly shrinks any
  // more, and when stopped: then it is not usable unless it has a level.
  //
  // `parts`: of the problem's groups, or empty. Behind level 0, what is of one part is merged
  // before anything else.
  explicit Hierarchy(const Problem& problem, Stop* stop = nullptr,
                     std::vector<uint32_t> parts = {});

  uint32_t level_count() const { return static_cast<uint32_t>(levels_.size()); }
  uint32_t group_count(uint32_t level) const {
    return static_cast<uint32_t>(levels_[level].offset.size()) - 1;
  }
  // Nodes of the group, ascending within each of the problem's groups.
  std::span<const uint32_t> nodes(uint32_t level, uint32_t group) const {
    const Level& l = levels_[level];
    return {l.nodes.data() + l.offset[group], l.nodes.data() + l.offset[group + 1]};
  }
  uint32_t group_of(uint32_t level, uint32_t node) const {
    return levels_[level].group_of[problem_->group_of(node)];
  }
  // Whether every node of the group may run on the device. At least one device satisfies that.
  bool allowed(uint32_t level, uint32_t group, uint32_t device) const {
    const DeviceRows& rows = levels_[level].rows;
    return rows.empty() || rows[group][device];
  }

 private:
  struct Level {
    std::vector<uint32_t> group_of;  // of the problem's groups
    std::vector<uint32_t> offset, nodes;
    DeviceRows rows;  // devices that each group may run on; none: any
  };
  void add_level(std::vector<uint32_t> group_of, uint32_t groups, DeviceRows rows);

  const Problem* problem_;
  Stop* stop_;
  std::vector<Level> levels_;
};

}  // namespace placeto
