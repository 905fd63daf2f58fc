// The chain of nodes that the makespan waits for: from the last finish back to time 0, at each node
// whatever let it start last. Moving anything else cannot shorten the run.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "runtime/cost/move_evaluator.h"

namespace placeto {

// Approximate where transfers queue: a transfer counts as its own time, so the chain goes to the
// producer and not to whoever held the channel before it. Keeps its buffers between updates.
class WaitingChain {
 public:
  void update(const MoveEvaluator& evaluator);
  // From the last node to the first; never empty after an update.
  std::span<const uint32_t> nodes() const { return nodes_; }

 private:
  std::vector<uint32_t> nodes_, order_, before_on_device_, last_on_device_;
};

}  // namespace placeto
