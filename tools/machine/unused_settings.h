// What a topology says and its rules have no use for.
#pragma once

#include <string>
#include <vector>

#include "runtime/graph/topology.h"

namespace placeto {

// A sentence for each: latencies of links that are not charged, channels that nothing shares.
std::vector<std::string> unused_settings(const Topology& topology);

}  // namespace placeto
