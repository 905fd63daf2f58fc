// A problem from what the command line names, and whether a placement may stand in it.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "runtime/cost/problem.h"
#include "runtime/cost/simulator.h"

namespace placeto::cli {

// Problem::build, with the files named in messages. Rules that rule everything out are a Failure
// with kNoFeasiblePlacement; a graph that the topology cannot run is a bad input.
Problem build_problem(const std::string& graph_path, const Graph& graph,
                      const std::string& topology_path, const Topology& topology,
                      const Rules& rules = {}, Stop* stop = nullptr);

// A Failure with kNoFeasiblePlacement for a node on a device that cannot run it: it would never
// finish, and there is no timeline.
void check_runnable(const Problem& problem, std::span<const uint32_t> assignment);
// What makes the placement infeasible, one sentence each.
std::vector<std::string> violations(const Problem& problem, std::span<const uint32_t> assignment,
                                    const Timeline& timeline);

}  // namespace placeto::cli
