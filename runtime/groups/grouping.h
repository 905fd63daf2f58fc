// Grouping: operators that nobody would part, merged before the hierarchy begins.
//
// Graphs of real models are full of them: an activation behind its convolution, a reshape, the
// computation of a shape. Moving one alone costs a transfer and gains nothing, so that searches and
// policies, which move groups, lose their time with it. The list schedulers still place nodes, and
// cost is always measured on the ungrouped graph.
#pragma once

#include "runtime/groups/group_graph.h"

namespace placeto {

enum class Grouping : uint8_t { kAutomatic, kNone };

// The merged group that every group of the problem is in; `count` of them, numbered by their lowest
// member. Two groups are merged if
//   - one decides where the other goes (free_nodes.h), which has no say in what follows; or
//   - they are neighbours in a chain (one produces for the other alone, which consumes from it
//     alone), and the transfer between them takes as long as the shorter of the two runs; or
//   - one is tiny (a thousandth of the mean run time, or less), and the other is the neighbour it
//     exchanges most with;
// provided that the best device for both makes up for the transfer saved, that they share an
// allowed device, and that no merged group holds more than an eighth of a device's share of the
// work. `graph` and `rows` are those of the problem's groups. Incomplete once stopped.
std::vector<uint32_t> merge_chains_and_tiny(const Problem& problem, const GroupGraph& graph,
                                            const DeviceRows& rows, uint32_t& count,
                                            Stop* stop = nullptr);

}  // namespace placeto
