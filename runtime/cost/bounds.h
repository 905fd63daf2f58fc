// Lower bounds on the makespan of any placement.
#pragma once

#include <algorithm>

#include "runtime/cost/problem.h"

namespace placeto {

struct LowerBounds {
  double critical_path_us = 0;  // longest path with every node on its fastest allowed device
  double work_us = 0;           // all work spread over all devices at their speeds
  double proved_us = 0;         // of the best of all placements, where all were looked at
  double best_us() const { return std::max({critical_path_us, work_us, proved_us}); }
};

// Valid for the latency objective under every rule set of the cost model; 0, which is always true,
// for what was stopped.
LowerBounds lower_bounds(const Problem& problem, Stop* stop = nullptr);

}  // namespace placeto
