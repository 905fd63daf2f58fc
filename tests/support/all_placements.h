// The best of all placements of a tiny problem, by looking at every one.
#pragma once

#include <algorithm>
#include <vector>

#include "runtime/cost/evaluator.h"

namespace placeto::test {

inline Score least_score(const Problem& problem) {
  Evaluator evaluator(problem);
  Score least = Score::worst();
  std::vector<std::vector<uint32_t>> allowed(problem.group_count());
  for (uint32_t g = 0; g < problem.group_count(); ++g) {
    for (uint32_t d = 0; d < problem.device_count(); ++d) {
      if (problem.allowed(g, d)) allowed[g].push_back(d);
    }
  }
  std::vector<size_t> chosen(problem.group_count(), 0);
  Assignment assignment(problem.node_count());
  for (bool more = true; more;) {
    for (uint32_t g = 0; g < problem.group_count(); ++g) {
      for (uint32_t v : problem.members(g)) assignment[v] = allowed[g][chosen[g]];
    }
    least = std::min(least, evaluator.evaluate(assignment));
    more = false;  // count up, each group in the base of its devices
    for (uint32_t g = 0; g < problem.group_count() && !more; ++g) {
      chosen[g] = (chosen[g] + 1) % allowed[g].size();
      more = chosen[g] != 0;
    }
  }
  return least;
}

}  // namespace placeto::test
