// Topologies by file or by name: those of models/topologies are built in.
#pragma once

#include <string>

#include "runtime/graph/topology.h"
#include "tools/options/options.h"

namespace placeto::cli {

// -t, --topology.
Option& add_topology(Command& command, std::string& target);

// ", did you mean '2xk80'?" of what is no file and like the name of a built-in topology; else "".
std::string close_topology(const std::string& path);

// A file, standard input ("-"), or a built-in topology. A Failure if there is none.
Topology load_topology(const std::string& path);

}  // namespace placeto::cli
