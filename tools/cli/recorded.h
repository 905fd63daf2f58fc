// What a placement says of how it was made, for commands that read one: they take it up unless told
// otherwise, so that they see the same problem.
#pragma once

#include <string>

#include "runtime/format/placement.h"
#include "tools/cli/engine.h"
#include "tools/cli/graph_input.h"

namespace placeto::cli {

// The numbers of free dimensions. `file`: the placement's, named if one is malformed.
void take_up_dims(const PlacementSpec& placement, const std::string& file, ModelOptions& options);

// `given`: the option --engine; empty: the engine of the placement; "none": none.
Engine engine_of(const PlacementSpec& placement, const std::string& file, const std::string& given);

// Where the nodes of the graph in `graph_path` are. A Failure if the placement is not of it.
Assignment assignment_of(const PlacementSpec& placement, const std::string& file,
                         const Graph& graph, const std::string& graph_path,
                         const Topology& topology);

// A line on standard error where the makespan is not the one that the placement records, and the
// caller asked for no other engine or dimensions.
void note_unlike_recorded(const PlacementSpec& placement, const std::string& file,
                          const std::string& given_engine, const ModelOptions& options,
                          double makespan_us);

}  // namespace placeto::cli
