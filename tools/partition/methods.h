// The partitioners of this build, and what they share.
#pragma once

#include <string_view>
#include <vector>

#include "runtime/heuristics/workbench.h"
#include "tools/partition/part_graph.h"

namespace placeto {

const Method& scotch_method();  // only where PLACETO_HAVE_SCOTCH
const Method& metis_method();   // only where PLACETO_HAVE_METIS

// Partitions the problem and turns the parts into a placement. `partition` gives one part per
// vertex of a graph that has more vertices than parts, and at least two parts; smaller ones are
// answered here: the libraries mishandle them. All of it is done by a child process: the libraries
// keep global state, print to standard output, and know neither deadlines nor Ctrl-C.
Result<Candidate> place_partitioned(
    Workbench& bench, std::string_view method,
    Result<std::vector<int32_t>> (*partition)(const PartGraph& graph, uint64_t seed));

}  // namespace placeto
