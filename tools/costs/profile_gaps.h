// What a profile says nothing of: it may be of a part of the model, as of one stage.
#pragma once

#include <span>
#include <vector>

#include "tools/costs/engine_nodes.h"

namespace placeto {

// True for nodes without a time that no other node of the engine can stand for. Engines fuse or
// drop what is cheap, but products and convolutions stay: around one that is missing, everything up
// to nodes that are `known` to have run, or fused behind them, is missing, too. Not next to what
// stands for several products (attention, joined names), and not if the engine has as many
// products, attention or parts with names of its own that lead to no node of the graph, or what is
// missing makes but 2% of all operations: equal products are merged. What is computed from
// parameters is never missing. `time_at`: per node of the profile, the node of the graph that has
// its time; kNoIndex: it leads to none.
std::vector<bool> missing_nodes(const Graph& graph, const Profile& profile,
                                const EngineNodes& engine, std::span<const uint32_t> time_at,
                                const std::vector<bool>& known);

}  // namespace placeto
