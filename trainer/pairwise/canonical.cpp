#include "trainer/pairwise/canonical.h"

#include <vector>

#include "runtime/cost/twins.h"

namespace placeto::train {

bool devices_alike(const Problem& problem) {
  if (!problem.topology().uniform_links()) return false;
  for (uint32_t d = 1; d < problem.device_count(); ++d) {
    if (!interchangeable(problem, 0, d)) return false;
  }
  return true;
}

Assignment renamed_like(const Problem& problem, std::span<const uint32_t> placed,
                        std::span<const uint32_t> like) {
  const uint32_t devices = problem.device_count();
  std::vector<double> shared(size_t{devices} * devices, 0);  // [of placed][of like]
  for (uint32_t v = 0; v < problem.node_count(); ++v) {
    shared[size_t{placed[v]} * devices + like[v]] += problem.mean_run_us(v);
  }
  std::vector<uint32_t> name(devices, devices);
  std::vector<bool> taken(devices, false);
  for (uint32_t named = 0; named < devices; ++named) {
    uint32_t from = devices, to = devices;
    for (uint32_t a = 0; a < devices; ++a) {
      for (uint32_t b = 0; b < devices; ++b) {
        if (name[a] != devices || taken[b]) continue;
        if (from == devices ||
            shared[size_t{a} * devices + b] > shared[size_t{from} * devices + to]) {
          from = a, to = b;
        }
      }
    }
    name[from] = to;
    taken[to] = true;
  }
  Assignment renamed(placed.begin(), placed.end());
  for (uint32_t& device : renamed) device = name[device];
  return renamed;
}

}  // namespace placeto::train
