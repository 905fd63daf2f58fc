// Outlook: a lower bound on the makespan of a neighbour of a base placement, seen while its run is
// under way. Most neighbours that a search tries are late, and this tells early.
//
// Two bounds at every start of a node. What comes after it on a path has to run, where the base has
// it, with the transfers between: of nodes that no move follows. And its device has to run all that
// is left for it, one after the other. Neither knows who waits for whom.
//
// Rejected: the longest paths of every neighbour itself (exact for nodes before the moves, too: 3%
// fewer nodes started, 5% more time); what is left for each channel (0 to 13% fewer, even).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "runtime/cost/change.h"
#include "runtime/cost/problem.h"
#include "runtime/cost/rounding.h"

namespace placeto {

// For parallel execution. Not shareable between threads; the problem must outlive it.
class Outlook {
 public:
  // Neighbours start in the base's run when some multiple of `stride` nodes have started.
  Outlook(const Problem& problem, uint32_t stride, Stop* stop);

  // The base: devices, and how many nodes had started when each node did; used until the next one.
  // Once stopped, of no use.
  void rebase(std::span<const uint32_t> assignment, std::span<const uint32_t> dispatch_index);

  // A neighbour whose run goes on from the base's after `block` x stride starts. The caller sees to
  // it that none of the changed nodes, which are distinct, is among these: their run times are
  // taken from what the base has left at that point, and added to what is left on their new
  // devices.
  void begin(uint32_t block, std::span<const Change> changes);
  // No makespan is below that, if the device is free for what is left from `free_us` on.
  double least_us(uint32_t device, double free_us) const {
    return rounded_down(free_us + left_us_[device]);
  }
  // The same as a node starts; to be told of every start. `free_us`: when its device is free again.
  double node_starts(uint32_t node, uint32_t device, double start_us, double finish_us,
                     double free_us) {
    const double least = least_us(device, start_us);
    left_us_[device] -= free_us - start_us;
    if (dispatch_index_[node] <= last_change_) return least;
    return std::max(least, finish_us + tail_us_[node]);
  }

 private:
  const Problem* problem_;
  uint32_t stride_;
  Stop* stop_;
  std::span<const uint32_t> assignment_, dispatch_index_;
  std::vector<double> tail_us_;        // of each node's finish, nobody waiting
  std::vector<double> block_left_us_;  // what starts in a block or later, by block and device
  // What has not started in the neighbour, by device, but for the gap after the last; how many
  // nodes had started in the base when the last that moves did.
  std::vector<double> left_us_;
  uint32_t last_change_ = 0;
};

}  // namespace placeto
