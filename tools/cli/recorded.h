// What a placement says of how it was made, for commands that read one: they take it up unless told
// otherwise, so that they see the same problem.
#pragma once

#include <string>

#include "runtime/cost/bounds.h"
#include "runtime/cost/problem.h"
#include "runtime/cost/simulator.h"
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

// That the graph has another name than the placement records, or the makespan is another though the
// caller asked for no other engine or dimensions; "": neither. Said on standard error, too.
std::string note_unlike_recorded(const PlacementSpec& placement, const std::string& file,
                                 const Graph& graph, const std::string& given_engine,
                                 const ModelOptions& options, double makespan_us);

// What a placement records of how good it is, which a placing found out and no run tells.
struct RecordedProof {
  double bound_us = 0;  // on the makespan, under the rules that it was placed with; 0: none
  bool proved = false;  // no placement is better by the objective of the problem
};
// Nothing where its run, here that of the problem, does not cost what is recorded, or the record
// contradicts it.
RecordedProof proof_of(const PlacementSpec& placement, const Problem& problem,
                       const Timeline& timeline);
// Whether it says what the bounds that are computed do not.
bool tells_more(const RecordedProof& proof, const LowerBounds& bounds);
// "proved optimal, as p.json records of ...".
std::string proof_text(const RecordedProof& proof, const std::string& file);

}  // namespace placeto::cli
