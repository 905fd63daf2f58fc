// Decisions: what the placers of Mirhoseini et al. decide about, and what they see of it.
#pragma once

#include <array>
#include <cstdint>
#include <utility>
#include <vector>

#include "runtime/cost/evaluator.h"

namespace placeto::train {

inline constexpr int64_t kTypeEmbedding = 16;
inline constexpr size_t kDecisionSizes = 3;  // run time, bytes sent, resident bytes

struct Decisions {
  std::vector<uint32_t>
      group;  // per decision: the problem's group, in topological order of its first
  std::vector<int64_t> type;  // per decision: number of its longest node's operator
  int64_t types = 0;
  std::vector<std::array<float, kDecisionSizes>> sizes;  // per decision, over the largest
  std::vector<std::pair<uint32_t, uint32_t>> edges;      // between decisions, each once

  uint32_t count() const { return static_cast<uint32_t>(group.size()); }
};

Decisions read_decisions(const Problem& problem);

// The placement that gives each decision its device.
Assignment placement_of(const Problem& problem, const Decisions& decisions,
                        const std::vector<uint32_t>& devices);

}  // namespace placeto::train
