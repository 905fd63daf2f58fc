// What is said of run times before they are compared on the devices of a topology.
#pragma once

#include <string>
#include <vector>

#include "runtime/graph/graph.h"
#include "runtime/graph/topology.h"
#include "tools/costs/sources.h"

namespace placeto::cli {

// A Failure if a profile is of a kind of device that none of the topologies has: nothing would be
// made of it.
void check_profile_kinds(const CostSources& costs, const std::vector<const Topology*>& topologies);

// What --json says where numbers of unlike sources are compared (rates and prices of the topology's
// devices, run times of the graph), and where a device runs nothing for a rate that it lacks. ""
// where neither is so. On standard error it is said apart: of the topology when it is read, of run
// times by `note_times`.
std::string note_on_numbers(const Graph& graph, const Topology& topology);

// Lines on standard error when run times on some of the topology's kinds of device were measured
// and on others estimated, and when rates to estimate them from are lacking.
void note_times(const std::string& graph_path, const Graph& graph, const std::string& topology_path,
                const Topology& topology);

}  // namespace placeto::cli
