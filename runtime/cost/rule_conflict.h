// Which rules leave no device to nodes that share one, for messages.
#pragma once

#include <string>

#include "runtime/cost/problem.h"

namespace placeto {

struct Blame {
  bool rules = false;         // without them, the graph can run on the topology
  std::string conflict = {};  // behind ": ", two that exclude each other; "" where it takes more
};

// Why Problem::build failed with kBadInput, given all that it was given. Nobody is to blame where
// `stop` ended the looking.
Blame find_blame(const Graph& graph, const Topology& topology, const Rules& rules,
                 const Limits& limits, Stop* stop);

}  // namespace placeto
