// The levels of a hierarchy, and below them the problem's own groups, of which its finest level
// may have joined some.
#pragma once

#include "runtime/base/no_index.h"
#include "runtime/groups/hierarchy.h"

namespace placeto {

class AllLevels {
 public:
  static constexpr uint32_t kUnmerged = kNoIndex;  // finer than all levels of the hierarchy

  // Both must outlive it.
  AllLevels(const Hierarchy& hierarchy, const Problem& problem)
      : hierarchy_(hierarchy), problem_(problem) {}

  // Visits every level, the coarsest first; the problem's own groups where the finest is not these.
  void each(auto visit) const {
    for (uint32_t level = hierarchy_.level_count(); level-- > 0;) visit(level);
    if (hierarchy_.group_count(0) < problem_.group_count()) visit(kUnmerged);
  }
  uint32_t group_count(uint32_t level) const {
    return level == kUnmerged ? problem_.group_count() : hierarchy_.group_count(level);
  }
  uint32_t group_of(uint32_t level, uint32_t node) const {
    return level == kUnmerged ? problem_.group_of(node) : hierarchy_.group_of(level, node);
  }
  std::span<const uint32_t> nodes(uint32_t level, uint32_t group) const {
    return level == kUnmerged ? problem_.members(group) : hierarchy_.nodes(level, group);
  }
  bool allowed(uint32_t level, uint32_t group, uint32_t device) const {
    return level == kUnmerged ? problem_.allowed(group, device)
                              : hierarchy_.allowed(level, group, device);
  }

 private:
  const Hierarchy& hierarchy_;
  const Problem& problem_;
};

}  // namespace placeto
