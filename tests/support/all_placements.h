// All placements of a tiny problem, and the best of them.
#pragma once

#include <algorithm>
#include <vector>

#include "runtime/cost/evaluator.h"

namespace placeto::test {

template <class Visit>
void each_assignment(const Problem& problem, const Visit& visit) {
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
    visit(assignment);
    more = false;  // count up, each group in the base of its devices
    for (uint32_t g = 0; g < problem.group_count() && !more; ++g) {
      chosen[g] = (chosen[g] + 1) % allowed[g].size();
      more = chosen[g] != 0;
    }
  }
}

inline Score least_score(const Problem& problem) {
  Evaluator evaluator(problem);
  Score least = Score::worst();
  each_assignment(problem, [&](const Assignment& assignment) {
    least = std::min(least, evaluator.evaluate(assignment));
  });
  return least;
}

}  // namespace placeto::test
