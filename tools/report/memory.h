// Memory in use on every device over the predicted run, for charts. The cost model itself only
// keeps the peaks.
#pragma once

#include <span>
#include <vector>

#include "runtime/cost/simulator.h"

namespace placeto {

// From time_us on, until the next step, that many bytes are in use.
struct MemoryStep {
  double time_us;
  uint64_t bytes;
};

// Per device, steps in time order with distinct times, the first at 0. The largest step of a device
// is timeline.peak_memory_bytes of that device.
std::vector<std::vector<MemoryStep>> memory_steps(const Problem& problem,
                                                  std::span<const uint32_t> assignment,
                                                  const Timeline& timeline);

}  // namespace placeto
