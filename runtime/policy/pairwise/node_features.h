// The rows that the graph network of a `pairwise` policy embeds, one per node.
#pragma once

#include "runtime/policy/pairwise/features.h"
#include "runtime/policy/pairwise/placement_state.h"

namespace placeto {

// Writes nodes x kNodeFeatures floats.
void node_features(const PlacementState& state, float* out, Stop* stop = nullptr);

}  // namespace placeto
