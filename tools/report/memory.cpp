#include "tools/report/memory.h"

#include <algorithm>

#include "runtime/cost/memory.h"

namespace placeto {

std::vector<std::vector<MemoryStep>> memory_steps(const Problem& problem,
                                                  std::span<const uint32_t> assignment,
                                                  const Timeline& timeline) {
  struct Change {
    double time_us;
    int64_t bytes;
  };
  MemoryMeter meter(problem);
  std::vector<MemoryMeter::Held> all;
  meter.list_held(all);
  std::vector<uint64_t> peaks;
  meter.peaks(assignment, timeline, peaks);
  std::vector<std::vector<Change>> changes(problem.device_count());
  for (const MemoryMeter::Held& held : all) {
    changes[held.device].push_back({held.from_us, static_cast<int64_t>(held.bytes)});
    changes[held.device].push_back({held.to_us, -static_cast<int64_t>(held.bytes)});
  }
  std::vector<std::vector<MemoryStep>> devices(problem.device_count());
  for (uint32_t d = 0; d < devices.size(); ++d) {
    std::ranges::sort(changes[d], {}, &Change::time_us);
    auto held = static_cast<int64_t>(meter.resident_bytes(d));
    std::vector<MemoryStep>& steps = devices[d];
    steps.push_back({0, static_cast<uint64_t>(held)});
    for (const Change& change : changes[d]) {
      held += change.bytes;
      if (change.time_us > steps.back().time_us) steps.push_back({change.time_us, 0});
      steps.back().bytes = static_cast<uint64_t>(held);
    }
  }
  return devices;
}

}  // namespace placeto
