// Stages of the nodes of an ONNX model: those that were recorded with the placement, or formed by
// the same code that forms them for the simulator (runtime/cost/stages.h).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "runtime/base/result.h"
#include "runtime/cost/stages.h"

namespace placeto {

// How to divide.
struct StageWish {
  StageWish(StageRule by) : rule(by) {}  // NOLINT(google-explicit-constructor)
  StageRule rule;
  // As recorded: per node, and the order of the stages; empty: by the rule.
  std::vector<uint32_t> stage_of, order;
};

// predecessors[v] are indices below v; device[v] < device_count. Nodes with live[v] == false get no
// stage; predecessors of live nodes are live. Recorded stages that are left without nodes are
// dropped. Fails with kBadInput if recorded stages do not fit: nodes of a stage on two devices, a
// dependency on a higher stage, an order that lacks a stage or breaks a dependency.
Result<Division> find_stages(std::span<const std::vector<uint32_t>> predecessors,
                             std::span<const uint32_t> device, uint32_t device_count,
                             const std::vector<bool>& live, const StageWish& wish);

}  // namespace placeto
