// Where memory is tight hardly any move fits: whoever comes has to be made room for. So groups
// leave the device that a proposal would fill too far, for others that have room.
//
// Ejection chains: Yagiura, Ibaraki and Glover, "An ejection chain approach for the generalized
// assignment problem", INFORMS Journal on Computing 2004.
//
// Rejected: to accept what does not fit for its makespan times 1 + weight x overflow, the weight
// such that about half of what is accepted fits. Without the chains it gains nothing, beside them
// little (tests/bench/results/search.md).
#pragma once

#include <vector>

#include "runtime/base/random.h"
#include "runtime/cost/move_evaluator.h"

namespace placeto {

// Not shareable between threads.
class MakeRoom {
 public:
  // The evaluator must outlive it.
  explicit MakeRoom(const MoveEvaluator& evaluator);

  // Adds changes, of groups that `changes` leave where they are. What a device will hold is taken
  // to be the peak of the evaluator's base, and the resident bytes that come and go: an estimate,
  // so that neither is sure to fit what is mended, nor not to fit what is not. Draws no numbers
  // where nothing is too full.
  void mend(Random& random, std::vector<Change>& changes);

 private:
  void expect(const std::vector<Change>& changes);
  bool send_one_away(uint32_t device, Random& random, std::vector<Change>& changes);
  double room(uint32_t device) const;

  const MoveEvaluator& evaluator_;
  const Problem& problem_;
  std::vector<double> expected_;  // bytes by device
  std::vector<bool> is_moved_;    // by node; false between calls
};

}  // namespace placeto
