// Nodes by pattern: over their names, or over their operators with "op:" in front.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "runtime/graph/graph.h"

namespace placeto::cli {

// '*' stands for any characters, '?' for one; everything else for itself. At most as many steps as
// pattern and text have characters, multiplied.
bool glob_matches(std::string_view pattern, std::string_view text);

// Whether the text is a pattern, not the name of one node.
bool is_node_pattern(std::string_view text);

// Nodes whose name, or with "op:" whose operator, the pattern matches, in ascending order.
std::vector<uint32_t> matching_nodes(std::string_view pattern, const Graph& graph);

}  // namespace placeto::cli
