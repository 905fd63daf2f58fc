// A staged problem on one device that only some orders of its nodes fit.
#pragma once

#include "tests/support/random_problem.h"

namespace placeto::test {

// Each branch makes 1,000 bytes, of which 10 are left; a join reads what is left of all. In the
// order of their numbers all branches begin before one goes on. One branch after the other holds
// 1,000 and 10 for each branch, and no order holds less; the device has room for that but for what
// it lacks.
inline Instance shrinking_branches(uint32_t branches, uint64_t lacking_bytes) {
  constexpr uint64_t kLarge = 1000, kSmall = 10;
  GraphSpec graph;
  graph.name = "branches";
  const auto add = [&graph](std::vector<uint64_t> outputs) {
    NodeSpec& node = graph.nodes.emplace_back();
    node.cost_us = {1};
    node.outputs = std::move(outputs);
  };
  const uint32_t join = 2 * branches;
  for (uint32_t b = 0; b < branches; ++b) add({kLarge});
  for (uint32_t b = 0; b < branches; ++b) {
    add({kSmall});
    graph.edges.push_back({b, 0, branches + b});
    graph.edges.push_back({branches + b, 0, join});
  }
  add({});
  TopologySpec topology = equal_devices(1);
  topology.execution = Execution::kStaged;
  topology.devices[0].memory_bytes = kLarge + branches * kSmall - lacking_bytes;
  return build_instance(std::move(graph), std::move(topology));
}

}  // namespace placeto::test
