// What a placement gives every device to do, and when a simulated run does it.
#pragma once

#include <span>
#include <vector>

#include "runtime/cost/problem.h"

namespace placeto {

// Sums per device; no time is simulated.
struct Loads {
  // Incomplete once stopped.
  void sum(const Problem& problem, std::span<const uint32_t> assignment, Stop* stop = nullptr);
  // A node moves. Transfers stay as they were.
  void move(const Problem& problem, uint32_t node, uint32_t from, uint32_t to);

  std::vector<double> run_us;          // of its nodes
  std::vector<double> egress_us;       // of the outputs that leave it, to the first who reads them
  std::vector<double> resident_bytes;  // of its nodes
};

// The nodes of every device in the order in which a run starts them, with the work before each.
class DeviceRuns {
 public:
  // Incomplete once stopped.
  void index(const Problem& problem, std::span<const uint32_t> assignment,
             std::span<const uint32_t> order, std::span<const double> start_us,
             Stop* stop = nullptr);

  // Run time of the device's nodes that start in [from, to).
  double busy_us(uint32_t device, double from, double to) const;

 private:
  std::vector<uint32_t> begin_, end_;   // device -> its rows; the second: scratch
  std::vector<double> start_us_;        // by device, ascending
  std::vector<double> work_before_us_;  // the same, and one more entry for each device
};

}  // namespace placeto
