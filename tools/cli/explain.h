// --explain: why nodes are where they are.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "runtime/cost/problem.h"
#include "runtime/format/placement.h"
#include "runtime/heuristics/method.h"
#include "tools/cli/watch.h"

namespace placeto::cli {

// The nodes that --explain names: one by name or index, those that a pattern matches, every node
// for "all", none for "". A Failure with kBadUsage if there is no such node.
std::vector<uint32_t> nodes_to_explain(const std::string& text, const Graph& graph,
                                       const Topology& topology);

// Each node's device, and what the makespan would be if it went to the best of the other devices.
// Once `watch` stops it, only for the first of the nodes; null: nothing stops it.
std::vector<ReasonSpec> reasons_of(const Problem& problem, const Candidate& placed,
                                   std::span<const uint32_t> nodes, Watch* watch);

// The same as a table.
std::string explanation(const Problem& problem, std::span<const ReasonSpec> reasons);

}  // namespace placeto::cli
