// All pipelines of an order, to compare with.
#pragma once

#include <functional>
#include <vector>

#include "runtime/cost/problem.h"

namespace placeto::test {

// Calls visit with every division of the order into consecutive stages, on all choices of devices.
inline void each_pipeline(const Problem& problem, const std::vector<uint32_t>& order,
                          const std::function<void(const Assignment&)>& visit) {
  Assignment assignment(problem.node_count());
  std::vector<bool> taken(problem.device_count(), false);
  const std::function<void(size_t)> divide = [&](size_t begin) {
    if (begin == order.size()) return visit(assignment);
    for (uint32_t d = 0; d < problem.device_count(); ++d) {
      if (taken[d]) continue;
      taken[d] = true;
      for (size_t end = begin; end < order.size() && problem.allowed(order[end], d); ++end) {
        for (const uint32_t v : problem.members(order[end])) assignment[v] = d;
        const Assignment before = assignment;
        divide(end + 1);
        assignment = before;
      }
      taken[d] = false;
    }
  };
  divide(0);
}

}  // namespace placeto::test
