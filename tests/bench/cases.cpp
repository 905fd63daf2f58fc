#include "tests/bench/cases.h"

#include <algorithm>
#include <string>

#include "tools/workloads/workload.h"

namespace placeto::bench {

TopologySpec k80_devices(uint32_t count) {
  TopologySpec topology;
  topology.name = std::to_string(count) + " equal devices";
  topology.op_gap_us = 5.7;
  topology.default_link = {
      .bandwidth_bytes_per_us = kReferenceBandwidth, .latency_us = 0, .gap_us = 25};
  for (uint32_t d = 0; d < count; ++d) {
    DeviceSpec device;
    device.name = "gpu:" + std::to_string(d);
    device.kind = "gpu";
    topology.devices.push_back(std::move(device));
  }
  return topology;
}

GraphSpec layered_graph(uint32_t nodes, uint64_t seed) {
  WorkloadOptions options;
  options.nodes = nodes;
  options.seed = seed;
  return require(generate("layered", options));
}

Assignment random_placement(const Problem& problem, Random& random) {
  Assignment assignment(problem.node_count());
  for (uint32_t& device : assignment) device = random.below(problem.device_count());
  return assignment;
}

std::vector<Assignment> random_placements(const Problem& problem, uint64_t seed) {
  constexpr uint32_t kEntries = 1'000'000;  // of all placements together
  Random random(seed);
  std::vector<Assignment> placements(std::clamp(kEntries / problem.node_count(), 8u, 4096u));
  for (Assignment& assignment : placements) assignment = random_placement(problem, random);
  return placements;
}

}  // namespace placeto::bench
