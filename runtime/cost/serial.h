// `execution: serial`: engines that run one operator at a time over the whole system.
#pragma once

#include <span>
#include <vector>

#include "runtime/cost/problem.h"
#include "runtime/cost/simulator.h"

namespace placeto {

// A transfer of one node's output, and the position of the first out-edge that needs it.
struct SerialSend {
  uint32_t output, destination, position;
};

// Runs the nodes in topological order. A node starts when everything before it is done; when it
// finishes, its outputs move one after the other (per output under broadcast, per output and
// destination under unicast, in the order of their first out-edge elsewhere); then the next node.
// Gaps count as in parallel execution. Fills start_us, finish_us, order (sized by the caller),
// makespan, drain and, if `record`, transfers. `scratch` grows to the largest number of out-edges.
// False if stopped.
bool run_serially(const Problem& problem, std::span<const uint32_t> assignment, bool record,
                  std::vector<SerialSend>& scratch, Timeline& timeline, Stop* stop = nullptr);

}  // namespace placeto
