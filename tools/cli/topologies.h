// Topologies by file or by name: those of models/topologies are built in.
#pragma once

#include <string>
#include <vector>

#include "runtime/graph/topology.h"
#include "tools/options/options.h"

namespace placeto::cli {

// -t, --topology.
Option& add_topology(Command& command, std::string& target);

// The built-in ones, in alphabetical order.
std::vector<std::string> topology_names();
// True for a built-in topology, unless there is a file of that name.
bool is_topology_name(const std::string& path);
// ", did you mean '2xk80'?" of what is no file and like the name of a built-in topology; else "".
std::string close_topology(const std::string& path);

// A file, standard input ("-"), or a built-in topology. A Failure if there is none.
Topology load_topology(const std::string& path);

}  // namespace placeto::cli
