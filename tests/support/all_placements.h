// The best of all placements of a tiny problem, by looking at every one.
#pragma once

#include <algorithm>
#include <vector>

#include "runtime/cost/evaluator.h"

namespace placeto::test {

inline Score least_score(const Problem& problem) {
  Evaluator evaluator(problem);
  Score least = Score::worst();
  std::vector<uint32_t> device(problem.group_count(), 0);
  Assignment assignment(problem.node_count());
  for (bool more = true; more;) {
    bool allowed = true;
    for (uint32_t g = 0; g < problem.group_count(); ++g) {
      allowed &= problem.allowed(g, device[g]);
      for (uint32_t v : problem.members(g)) assignment[v] = device[g];
    }
    if (allowed) least = std::min(least, evaluator.evaluate(assignment));
    more = false;  // count up in base device_count()
    for (uint32_t g = 0; g < problem.group_count() && !more; ++g) {
      device[g] = (device[g] + 1) % problem.device_count();
      more = device[g] != 0;
    }
  }
  return least;
}

}  // namespace placeto::test
