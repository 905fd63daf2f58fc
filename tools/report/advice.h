// What to change: what a predicted run waits for, and what a faster part of the machine would buy.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "runtime/cost/problem.h"
#include "runtime/cost/simulator.h"

namespace placeto {

// A part of the critical path: nodes on one device, under staged execution what its stages cost
// beside them (stage_us, cut_us, cut_bytes_per_us), transfers on one channel, or none of these.
struct WaitingShare {
  // "npu:0 computes", "stages and cuts on npu:0", "cpu:0 sends", "gaps and latencies"
  std::string what;
  double us = 0;
};

// The same placement on a machine of which one part is twice as fast.
struct FasterPart {
  std::string what;         // "npu:0", "transfers from cpu:0"
  double objective_us = 0;  // makespan, or bottleneck where that is the objective
};

struct Advice {
  std::vector<WaitingShare> waits_for;    // the longest first; together the makespan
  std::vector<WaitingShare> busiest;      // what one run takes of each part, the longest first
  std::vector<FasterPart> twice_as_fast;  // the most useful first; none that would not help
  // The objective of another placement, found without a search, if no device had a memory limit;
  // 0: none is better, or it was not looked for.
  double without_limits_us = 0;
};

// A faster part costs a simulation on a machine of its own: `work` is the number of them times
// nodes, links and pairs of devices that may be spent, busiest parts first.
Advice advise(const Problem& problem, std::span<const uint32_t> assignment,
              const Timeline& timeline, uint64_t work);

}  // namespace placeto
