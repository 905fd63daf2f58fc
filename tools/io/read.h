// Reading graphs, topologies and placements, binary or JSON: told apart by content, never by file
// name. A path of "-" is standard input. Every message starts with the path.
#pragma once

#include <string>
#include <variant>

#include "runtime/base/limits.h"
#include "runtime/base/result.h"
#include "runtime/format/file_kind.h"
#include "runtime/format/placement_file.h"
#include "runtime/graph/graph.h"
#include "runtime/graph/topology.h"

namespace placeto {

// Checked in full: what these return is ready for use.
Result<Graph> read_graph(const std::string& path, const Limits& limits = {});
Result<Topology> read_topology(const std::string& path, const Limits& limits = {});
Result<PlacementSpec> read_placement(const std::string& path, const Limits& limits = {});

// The descriptions as they stand in the file, before Graph::build and Topology::build check them.
Result<GraphSpec> read_graph_spec(const std::string& path, const Limits& limits = {});
Result<TopologySpec> read_topology_spec(const std::string& path, const Limits& limits = {});

// Any of the three, checked in full.
using AnySpec = std::variant<GraphSpec, TopologySpec, PlacementSpec>;
Result<AnySpec> read_any(const std::string& path, const Limits& limits = {});

FileKind kind_of(const AnySpec& spec);

}  // namespace placeto
