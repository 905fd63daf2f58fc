// PlacementState: what move features read of a placement and its last simulated timeline, in arrays
// that are cheap to ask. Refreshed after a simulation; moves decided since then are noted, so that
// loads and neighbours' devices stay true while times grow old.
#pragma once

#include <cstdint>
#include <vector>

#include "runtime/cost/move_evaluator.h"
#include "runtime/timeline/latest_starts.h"
#include "runtime/timeline/loads.h"
#include "runtime/timeline/waiting_chain.h"

namespace placeto {

// One per placer; no allocation after the first refresh.
class PlacementState {
 public:
  explicit PlacementState(const Problem& problem, Stop* stop = nullptr);

  // Takes over the base placement of the evaluator and its timeline, and its `stop`, after which
  // the state is incomplete. O(nodes + edges).
  void refresh(const MoveEvaluator& evaluator);
  // A node has been decided to move; its times stay as they were simulated.
  void note(uint32_t node, uint32_t device);

  const Problem& problem() const { return *problem_; }
  Stop* stop() const { return stop_; }
  double makespan_us() const { return makespan_us_; }
  uint32_t device_of(uint32_t node) const { return device_of_[node]; }
  double start_us(uint32_t node) const { return start_[node]; }
  double finish_us(uint32_t node) const { return finish_[node]; }
  // Time the node could finish later without lengthening the run, if every order stays.
  double slack_us(uint32_t node) const { return slack_.slack_us(node); }
  // Whether it is on the chain that the makespan waits for (waiting_chain.h).
  bool critical(uint32_t node) const { return critical_[node] != 0; }
  // Time between the arrival of the node's last input (last_input.h) and its start.
  double wait_us(uint32_t node) const { return wait_[node]; }
  double load_us(uint32_t device) const { return loads_.run_us[device]; }
  double egress_us(uint32_t device) const { return loads_.egress_us[device]; }
  double resident_bytes(uint32_t device) const { return loads_.resident_bytes[device]; }
  double mean_load_us() const { return mean_load_; }
  // Ratio of mean transfer time to mean run time of the graph.
  double communication() const { return communication_; }
  // Run time of the device's nodes that start in [from, to), in the last timeline.
  double busy_us(uint32_t device, double from, double to) const {
    return runs_.busy_us(device, from, to);
  }

 private:
  void find_waits();

  const Problem* problem_;
  Stop* stop_ = nullptr;
  double makespan_us_ = 0, mean_load_ = 0, communication_ = 0;
  std::vector<uint32_t> device_of_, order_;  // the second: nodes by start
  std::vector<double> start_, finish_, wait_;
  std::vector<uint8_t> critical_;
  Loads loads_;
  DeviceRuns runs_;
  OrderedSlack slack_;
  WaitingChain chain_;
};

}  // namespace placeto
