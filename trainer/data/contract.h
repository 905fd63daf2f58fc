// Contraction: operators to groups that share a device and that can each run as one.
#pragma once

#include <cstdint>
#include <vector>

#include "runtime/cost/problem.h"

namespace placeto::train {

// The group of each operator, numbered from 0; empty if there is no such grouping into at most
// `groups`.
//
// Operators of one cluster of the runtime's hierarchy (colocation and free nodes first, then heavy
// edges) join along an edge, one after the other, unless another path leads from one to the other:
// that path would have to leave the group and return, a cycle. A cluster remains several groups
// where its operators are far apart, as a layer's forward and backward halves are; they share a
// device. Clusters are those of the finest level that leaves few enough groups.
std::vector<uint32_t> contract(const Problem& problem, uint32_t groups);

}  // namespace placeto::train
