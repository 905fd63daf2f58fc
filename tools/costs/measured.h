// Measured run times for the nodes of a graph: from profiles and from tables, one kind of device at
// a time, merged into the costs of the graph.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/base/result.h"
#include "runtime/graph/graph.h"
#include "tools/costs/profile.h"
#include "tools/costs/profiled_shapes.h"
#include "tools/costs/roofline.h"

namespace placeto {

// Run times on one kind of device by node of a graph. nullopt: not known; negative: cannot run.
struct KindCosts {
  std::string kind;
  std::vector<std::optional<double>> us;
  std::vector<bool> absorbed = {};  // at 0, for another node stands for it; empty: none
};

// How far a profile and a graph tell the same story.
struct Coverage {
  uint32_t profiled = 0, by_name = 0;      // nodes of the engine; those whose name led to a node
  double profiled_us = 0, by_name_us = 0;  // their run times
  uint32_t measured = 0, absorbed = 0;     // nodes of the graph with a time; without, so at 0
  uint32_t missing = 0;                    // without, and not known (profile_gaps.h)
  ShapeComparison shapes;
  // Of the time; of the nodes where none took any that a clock of whole microseconds tells.
  double share() const {
    if (profiled_us > 0) return by_name_us / profiled_us;
    return profiled > 0 ? static_cast<double>(by_name) / profiled : 0;
  }
};

// Below this share of the time the profile is taken to be of another model.
inline constexpr double kLeastCoverage = 0.5;

// Maps a profile onto a graph (engine_nodes.h). The time of a fused node goes to the node with its
// operator nearest before it; the others it stands for cost 0, as do nodes that the engine removed
// or computed at load. What a profile of a part of the model lacks stays open (profile_gaps.h). The
// time of nodes that lead nowhere (changes of layout) goes to the node that ran before, so the
// total is kept. `outputs` by node may be empty; their names help where models name no nodes. Fails
// with kBadInput when less than kLeastCoverage of the time can be mapped by name, or most nodes
// that can be compared had other shapes.
Result<KindCosts> costs_from_profile(const Graph& graph, std::span<const NodeOutputs> outputs,
                                     const Profile& profile, const std::string& kind,
                                     Coverage& coverage);

// "node,kind,us" per line; a first line that says just that is a heading; names with commas or
// quotes are quoted as in RFC 4180; empty lines are skipped. A negative time: the kind cannot run
// the node. Fails with kBadInput, naming the line, for anything else and for nodes that the graph
// does not have.
Result<std::vector<KindCosts>> costs_from_table(const Graph& graph, std::string_view text);

// Writes kinds and cost_us into the description of a graph: those of `measured` (later ones win
// where two know a node, unless it is absorbed there) and those of `estimates` where nothing was
// measured. Costs that the description has already are gone. Fails with kBadInput, naming the kind
// and the first nodes, when a kind would know only some nodes.
Status set_costs(const Graph& graph, std::span<const KindCosts> measured,
                 std::span<const Efficiencies> estimates, GraphSpec& spec);

}  // namespace placeto
