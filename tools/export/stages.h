// Stages: a placement cut into parts that run one after another, each on one device.
//
// Both rules number stages so that every dependency leads from a stage to itself or to one with a
// higher number. So stages never wait for each other in a circle, whatever the placement, and
// running them in the order of their numbers is always right.
//
// kFewest peels the graph: the stage takes every node of its device that needs nothing outside of
// what has been taken, until there is none; then another device has its turn. A node enters after
// its predecessors, so in the same stage or a later one. Taking more never hurts what follows, so
// with two devices no division has fewer stages that starts with the same device, and both starts
// are tried. With more devices the next is the one with the most nodes ready, which is a heuristic.
//
// kOverlap is for devices that run at the same time. The nodes of each device, in the given order,
// are cut before a node that reads another device's output and after a node whose output another
// device reads, so that no tensor waits for work that it does not depend on. What enters a stage
// from another device enters at its first node and what leaves it leaves at its last; a dependency
// between stages thus leads from a last node to a first node that comes later in the order, and so
// does one along a device. Ordered by their first nodes, stages depend on earlier ones alone.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace placeto {

enum class StageRule : uint8_t { kFewest, kOverlap };

inline constexpr uint32_t kNoStage = 0xffffffffu;

struct Stages {
  std::vector<uint32_t> of_node;  // kNoStage for nodes that are not live
  std::vector<uint32_t> device;   // per stage
};

// predecessors[v] are indices below v; device[v] < device_count. Nodes with live[v] == false get no
// stage; predecessors of live nodes are live. Time: nodes + edges + stages x devices, times
// devices.
Stages find_stages(std::span<const std::vector<uint32_t>> predecessors,
                   std::span<const uint32_t> device, uint32_t device_count,
                   const std::vector<bool>& live, StageRule rule);

}  // namespace placeto
