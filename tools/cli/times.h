// What is said of run times before they are compared on the devices of a topology.
#pragma once

#include <string>
#include <vector>

#include "runtime/graph/graph.h"
#include "runtime/graph/topology.h"
#include "tools/costs/sources.h"

namespace placeto::cli {

// A Failure if a profile is of a kind of device that none of the topologies has, or all times that
// were given with the graph are: nothing would be made of them.
void check_cost_kinds(const CostSources& costs, const Graph& graph,
                      const std::vector<const Topology*>& topologies);

// What --json says where numbers of unlike sources are compared (rates and prices of the topology's
// devices, run times of the graph), where run times are of kinds that no device has, where a device
// runs nothing for a rate that it lacks, where the topology says what it has no use for, and where
// run times seem to be in another unit. "" where
// nothing is so. On standard error it is said apart: of the topology when it is read, of run times
// by `note_times`.
std::string note_on_numbers(const Graph& graph, const Topology& topology);

// One more note in a field that holds several.
inline void add_note(const std::string& note, std::string& notes) {
  notes += (notes.empty() || note.empty() ? "" : "; ") + note;
}

// Lines on standard error when run times on some of the topology's kinds of device were measured
// and on others estimated, when they are of kinds that no device has, when rates to estimate them
// from are lacking, when the topology says what its rules have no use for, and when no graph takes
// so little or so much in all.
void note_times(const std::string& graph_path, const Graph& graph, const std::string& topology_path,
                const Topology& topology);

}  // namespace placeto::cli
