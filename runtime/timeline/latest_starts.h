// How late the nodes of a simulated run could start without a longer run. Two answers, for whoever
// re-places nodes sees what follows a node on its device as free to go elsewhere, and whoever
// judges one move sees it as fixed. (Queues have a third: what channels carry is fixed, too.)
#pragma once

#include <span>
#include <vector>

#include "runtime/cost/problem.h"

namespace placeto {

// A simulated run: where every node ran, and when. `order` is one in which it starts them.
struct SimulatedRun {
  const Problem& problem;
  std::span<const uint32_t> assignment;
  std::span<const uint32_t> order;
  std::span<const double> start_us, finish_us;
};

// Free devices: a node has to be through before its consumers, where they are, after the time of
// the transfers to them. Nothing else holds it back. Incomplete once stopped.
void find_latest_starts(const SimulatedRun& run, std::vector<double>& latest_start_us,
                        Stop* stop = nullptr);

// Fixed order: a node has to be through before the next one on its device, too, and a gap earlier:
// also one that takes no time and leaves none, as policies were trained with that.
// Slack: how much later it could finish; never less than 0. Keeps its buffers between calls.
class OrderedSlack {
 public:
  // Incomplete once stopped. The run ends at `makespan_us`.
  void find(const SimulatedRun& run, double makespan_us, Stop* stop = nullptr);
  double slack_us(uint32_t node) const { return slack_us_[node]; }

 private:
  std::vector<double> slack_us_, latest_start_us_, next_on_device_us_;
};

}  // namespace placeto
