// An earliest-finish pass over a window of the timeline: the nodes that start within it are placed
// anew, all others stay. Whole regions change in one proposal, consistently, which hundreds of
// moves of one group would have to find one by one.
//
// Large neighbourhood search: Shaw, "Using constraint programming and local search methods to solve
// vehicle routing problems", CP 1998.
#pragma once

#include <vector>

#include "runtime/base/random.h"
#include "runtime/heuristics/earliest_finish.h"
#include "runtime/search/current_run.h"

namespace placeto {

// Not shareable between threads.
class WindowPass {
 public:
  // The run must outlive it.
  explicit WindowPass(CurrentRun& run);

  // The base placement is another one.
  void base_changed() { timeline_is_old_ = true; }
  // Draws windows and rules and says what changes; nothing if none promises anything or once
  // stopped.
  void propose(Random& random, std::vector<Change>& changes);
  // How many nodes the last proposal's windows placed, as a share of the graph's.
  double share() const { return share_; }

 private:
  bool load();

  CurrentRun& run_;
  const Problem& problem_;
  Stop* stop_;
  EarliestFinish builder_;
  MemoryPlan plan_;
  bool timeline_is_old_ = true;
  std::vector<double> latest_start_us_;  // as the rules of a pass see it
  double share_ = 0;
  std::vector<Change> drawn_;
};

}  // namespace placeto
