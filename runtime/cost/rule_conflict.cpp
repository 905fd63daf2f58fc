#include "runtime/cost/rule_conflict.h"

#include <vector>

#include "runtime/base/message.h"
#include "runtime/base/no_index.h"
#include "runtime/graph/text.h"

namespace placeto {
namespace {

// "nodes[1] 'a' is pinned to 'gpu:0', which cannot run nodes[2] 'b'".
struct Conflict {
  uint32_t node = kNoIndex;
  const char* is = "";
  uint32_t device = kNoIndex;  // kNoIndex: none is named
  const char* why = "";
  uint32_t other = kNoIndex;  // kNoIndex: it is the node itself
};

constexpr const char* kPinned = " is pinned to ";

bool share_device(const Problem& problem, uint32_t v, uint32_t w) {
  if (problem.group_of(v) == problem.group_of(w)) return true;
  uint32_t d = 0;
  const auto allows = [&](uint32_t node) { return problem.allowed(problem.group_of(node), d); };
  while (d < problem.device_count() && !(allows(v) && allows(w))) ++d;
  return d < problem.device_count();
}

// `problem` has no pins and forbids, and perhaps not the lists of colocated nodes, either.
Conflict find_conflict(const Problem& problem, const Rules& rules, Stop* stop) {
  for (const std::vector<uint32_t>& together : rules.colocate) {
    for (const uint32_t v : together) {
      if (spend(stop, 1)) return {};
      if (share_device(problem, together[0], v)) continue;
      return {together[0], "", kNoIndex, " is colocated, and has no device in common, with ", v};
    }
  }
  std::vector<uint32_t> pin_of(problem.group_count(), kNoIndex);  // the first
  for (uint32_t i = 0; i < rules.pins.size(); ++i) {
    const auto [node, device] = rules.pins[i];
    if (spend(stop, 1)) return {};
    uint32_t& first = pin_of[problem.group_of(node)];
    if (first == kNoIndex) first = i;
    const Rules::NodeDevice& pin = rules.pins[first];
    if (pin.device != device && pin.node == node) {
      return {node, kPinned, pin.device, ", and to another device, too"};
    }
    if (pin.device != device) return {pin.node, kPinned, pin.device, ", and elsewhere ", node};
    if (first != i) continue;
    for (const uint32_t v : problem.members(problem.group_of(node))) {
      if (spend(stop, 1)) return {};
      if (problem.can_run(v, device)) continue;
      return {node, kPinned, device, ", which cannot run ", v};
    }
  }
  for (const auto& [node, device] : rules.forbids) {
    if (spend(stop, 1)) return {};
    const uint32_t first = pin_of[problem.group_of(node)];
    if (first == kNoIndex || rules.pins[first].device != device) continue;
    return {rules.pins[first].node, kPinned, device, ", which is forbidden to ", node};
  }
  return {};
}

std::string describe(const Problem& problem, const Conflict& found) {
  if (found.node == kNoIndex) return {};
  const GraphSpec& graph = problem.graph().spec();
  const uint32_t d = found.device;
  return join({": ", node_place(graph, found.node), found.is,
               d == kNoIndex ? "" : in_quotes(problem.topology().device(d).name), found.why,
               found.other == kNoIndex ? "" : node_place(graph, found.other)});
}

}  // namespace

Blame find_blame(const Graph& graph, const Topology& topology, const Rules& rules,
                 const Limits& limits, Stop* stop) {
  Rules colocation;
  colocation.colocate = rules.colocate;
  for (const bool colocated : {true, false}) {
    if (!colocated) colocation.colocate.clear();
    const auto problem = Problem::build(graph, topology, colocation, limits, stop);
    if (problem.ok()) return {true, describe(*problem, find_conflict(*problem, rules, stop))};
  }
  return {};
}

}  // namespace placeto
