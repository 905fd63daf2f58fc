// Which link a broadcast uses.
#pragma once

#include <cassert>
#include <span>

#include "runtime/cost/problem.h"

namespace placeto {

// Under `transfer: broadcast` one transfer serves every destination, so the slowest link among them
// carries it: the lowest bandwidth, then the largest gap. Its latency is not charged. Some consumer
// of the output is on another device than `source`.
inline const LinkParameters& broadcast_link(const Problem& problem,
                                            std::span<const uint32_t> assignment, uint32_t output,
                                            uint32_t source) {
  const Topology& topology = problem.topology();
  if (topology.uniform_links()) return topology.spec().default_link;
  const LinkParameters* slowest = nullptr;
  for (uint32_t consumer : problem.graph().consumers(output)) {
    if (assignment[consumer] == source) continue;
    const LinkParameters& link = topology.link(source, assignment[consumer]);
    if (slowest == nullptr || link.bandwidth_bytes_per_us < slowest->bandwidth_bytes_per_us ||
        (link.bandwidth_bytes_per_us == slowest->bandwidth_bytes_per_us &&
         link.gap_us > slowest->gap_us)) {
      slowest = &link;
    }
  }
  assert(slowest != nullptr);
  return *slowest;
}

}  // namespace placeto
