// Moves of groups of all sizes, large first.
//
// A one-node move is hopeless where a better placement moves a whole cluster: every step on the way
// cuts heavy edges and looks worse. So a move takes a group of some level of the hierarchy to a
// device, and the level drifts from coarse to fine as the budget is used up.
//
// In a pipeline a node from the middle of a stage makes two devices feed each other in a circle,
// and so does a group of neighbours. What shifts a border between two stages is a node with all
// that follows it on its device, or all that it follows there.
#pragma once

#include <vector>

#include "runtime/base/random.h"
#include "runtime/cost/move_evaluator.h"
#include "runtime/groups/hierarchy.h"
#include "runtime/search/proposal_ranker.h"
#include "runtime/timeline/waiting_chain.h"

namespace placeto {

// Not shareable between threads.
class GroupMoves {
 public:
  // All must outlive it; `ranker` may be null.
  GroupMoves(const Hierarchy& hierarchy, const MoveEvaluator& evaluator, ProposalRanker* ranker);

  // The evaluator's base placement is another one.
  void base_changed();
  // Draws a move, with a ranker the best ranked of a few; no changes if it would change nothing.
  // `used`: share of a round that is used up, in [0, 1].
  void propose(double used, Random& random, std::vector<Change>& changes);
  // A few groups of one level, each to any device: to get away from where nothing gains.
  void disturb(Random& random, std::vector<Change>& changes);

 private:
  struct Move {
    uint32_t level, group, device;
  };
  void add_changes(uint32_t level, uint32_t group, uint32_t device,
                   std::vector<Change>& changes) const;
  void exchange(const Move& move, Random& random, std::vector<Change>& changes);
  void shift_border(Random& random, std::vector<Change>& changes);
  void exchange_devices(Random& random, std::vector<Change>& changes);
  // The node's group goes there, if it may.
  void send(uint32_t node, uint32_t device, std::vector<Change>& changes) const;
  Move draw(double used, Random& random);
  uint32_t draw_level(double used, Random& random) const;
  uint32_t draw_anchor(Random& random);
  uint32_t draw_busy(Random& random) const;
  uint32_t draw_device(std::span<const uint32_t> nodes, uint32_t anchor, Random& random) const;
  bool changes_something(const Move& move) const;

  const Hierarchy& hierarchy_;
  const MoveEvaluator& evaluator_;
  const Problem& problem_;
  ProposalRanker* ranker_;
  WaitingChain chain_;
  bool chain_is_old_ = true;
  std::vector<uint32_t> shifted_;  // nodes
  std::vector<bool> is_shifted_;   // their groups
};

}  // namespace placeto
