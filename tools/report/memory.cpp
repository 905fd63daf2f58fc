#include "tools/report/memory.h"

#include "runtime/cost/memory.h"

namespace placeto {

std::vector<std::vector<MemoryStep>> memory_steps(const Problem& problem,
                                                  std::span<const uint32_t> assignment,
                                                  const Timeline& timeline) {
  MemoryMeter meter(problem);
  std::vector<uint64_t> peaks;
  meter.peaks(assignment, timeline, peaks);
  std::vector<std::vector<MemoryStep>> devices(problem.device_count());
  for (uint32_t d = 0; d < devices.size(); ++d) {
    auto held = static_cast<int64_t>(meter.resident_bytes(d));
    std::vector<MemoryStep>& steps = devices[d];
    steps.push_back({0, static_cast<uint64_t>(held)});
    for (const MemoryChange& change : meter.changes(d)) {
      held += change.bytes;
      if (change.time_us > steps.back().time_us) steps.push_back({change.time_us, 0});
      steps.back().bytes = static_cast<uint64_t>(held);
    }
  }
  return devices;
}

}  // namespace placeto
