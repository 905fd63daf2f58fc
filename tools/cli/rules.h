// The rules a caller gives for a placement, on the command line.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "runtime/cost/problem.h"
#include "tools/options/options.h"

namespace placeto::cli {

struct RuleOptions {
  std::vector<std::string> pins, forbids;  // NODES=DEVICE
  std::vector<std::string> colocate;       // A,B,...
  double memory_headroom = 0;
  Objective objective = Objective::kLatency;
};
void add_rules(Command& command, RuleOptions& options);

// --objective alone. `help`: what it means to the command.
void add_objective(Command& command, Objective& objective, const std::string& help);

// The rules in terms of indices. Nodes and devices are looked up by name first, then by index,
// nodes at last as a pattern (node_pattern.h): "op:Conv*" over operators, "block?.*" over names. A
// Failure with kBadUsage names what is unknown or ambiguous.
Rules resolve_rules(const RuleOptions& options, const Graph& graph, const Topology& topology);

// The node that an option names, or all that its pattern matches, looked up in the same way.
std::vector<uint32_t> resolve_nodes(std::string_view option, std::string_view text,
                                    const Graph& graph, const Topology& topology);

}  // namespace placeto::cli
