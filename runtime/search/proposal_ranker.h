// Which of several moves to evaluate.
#pragma once

#include <cstdint>

#include "runtime/cost/move_evaluator.h"

namespace placeto {

class ProposalRanker {
 public:
  // How many random moves it chooses from, at least 1. Very many would repeat themselves.
  virtual uint32_t proposals() const = 0;
  // The base placement has changed.
  virtual void refresh(const MoveEvaluator& evaluator) = 0;
  // Larger is more promising. What is sure not to be more than `least` may be called just that.
  virtual float score(uint32_t level, uint32_t group, uint32_t device, float least) = 0;

 protected:
  ~ProposalRanker() = default;
};

}  // namespace placeto
