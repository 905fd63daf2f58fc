// Whether a profile was taken at the shapes that a graph was imported at.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "runtime/graph/graph.h"
#include "tools/costs/engine_nodes.h"
#include "tools/costs/node_outputs.h"
#include "tools/costs/profile.h"

namespace placeto {

struct ShapeComparison {
  uint32_t compared = 0, unlike = 0;  // nodes of the graph that ran as they are
  std::string example;                // "'embed' (1x32x384 instead of 1x64x384)"; "" if none is

  bool mostly_unlike() const { return 2 * uint64_t{unlike} > compared; }
  // "295 of 300 nodes, such as 'embed' (...)".
  std::string summary() const;
};

// Compares how many elements first outputs have, as engines change types and the order of axes.
// Only nodes that the engine neither fused nor renamed are compared, where both shapes are known.
ShapeComparison compare_shapes(const Graph& graph, std::span<const NodeOutputs> outputs,
                               const Profile& profile, const EngineNodes& engine);

}  // namespace placeto
