// Lower bounds for branches of a search through all placements.
//
// Event simulation is no help there: a run of part of the graph may take longer than one of the
// whole (Graham, "Bounds on multiprocessing timing anomalies", SIAM J. Appl. Math. 1969). So bounds
// use what holds of every run: a path takes its run times and, between devices that are known, its
// transfers; a device or channel serves one thing at a time, between the heads and tails of what it
// serves (Carlier, "The one-machine sequencing problem", EJOR 1982).
#pragma once

#include <span>
#include <vector>

#include "runtime/base/stoppable_sort.h"
#include "runtime/cost/evaluator.h"

namespace placeto {

// A branch is some of the groups with devices.
class BranchBound {
 public:
  BranchBound(const Problem& problem, Stop* stop);

  uint32_t first_twin(uint32_t device) const { return twin_[device]; }

  // `device_of`: of every group, kNoIndex if it is free. Times are looked at where bytes alone do
  // not say which is better, this or `best`. Nothing once stopped.
  Score bound(std::span<const uint32_t> device_of, const Score& best);

  // What each device is taken at least by the groups that the last bound() saw on it. Under staged
  // execution that is one stage, which pays once for each tensor that leaves or enters it.
  std::span<const double> busy_us();

 private:
  // What one device or channel has to serve, one after the other.
  struct Job {
    double head_us, run_us, gap_us, tail_us;
  };
  // An output on its way, and what is behind it at least.
  struct Sent {
    uint32_t output, from, channel;
    double us, tail_us;
  };

  // The bound of the jobs with the latest heads, however many: they cannot begin before the least
  // of these heads, and the last of them has at least the least tail behind it.
  static double one_machine_us(std::vector<Job>& jobs, Uncleared<Job>& scratch);
  // Where free groups may go: of twins without a group, one speaks for all.
  void choose_devices();
  uint32_t device(uint32_t node) const { return device_of_[problem_.group_of(node)]; }
  template <class Visit>
  void each_device(uint32_t node, Visit visit) const;
  // Transfer and latency: no copy arrives earlier, whatever the rules. Under staged execution also
  // what both ends pay, and the beginning of the stage that reads.
  double transfer_us(uint32_t output, uint32_t from, uint32_t to) const;
  double begin_us(uint32_t device) const;  // of a stage
  // Longest paths: each node, on each device it may have, after the predecessors at their best.
  double path_us();
  double tail_behind_us(uint32_t node, uint32_t from, const OutEdge& out) const;
  bool together(uint32_t a, uint32_t b) const {
    return problem_.group_of(a) == problem_.group_of(b);
  }
  // After path_us().
  double devices_us();
  // Transfers between groups that both have a device. After path_us().
  double channels_us();
  // Under broadcast one for each output, which takes the longest of its links at least.
  template <class Visit>
  void each_transfer(Visit visit);
  double longest_of_jobs();  // one_machine_us of each
  // All work over all devices; free groups at their cheapest. Where gaps are long beside the runs,
  // what is left of the sum is no more than what rounding did to it.
  double work_us(double last_gap_us) const;
  double serial_us();
  double busiest_us();
  // What has been placed takes its resident bytes on each device, and beside them the most that one
  // node needs while it runs; what has not goes where there is room, as if it could be cut to
  // measure.
  uint64_t overflow_bytes();

  size_t at(uint32_t node, uint32_t device) const { return size_t{node} * devices_ + device; }

  const Problem& problem_;
  Stop* stop_;
  const Graph& graph_;
  const TopologySpec& spec_;
  uint32_t devices_;
  std::span<const uint32_t> device_of_;
  std::vector<uint32_t> twin_, open_;
  std::vector<bool> used_, empty_;
  std::vector<double> finish_us_, tail_us_;   // least ones, by node and device
  std::vector<std::vector<Job>> jobs_;        // by device or channel
  Uncleared<Job> sorted_;                     // room to sort them
  std::vector<double> busy_us_;               // of each device
  std::vector<uint64_t> running_bytes_;       // of each group
  std::vector<uint64_t> resident_, running_;  // of each device
};

}  // namespace placeto
