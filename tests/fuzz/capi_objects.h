// Graphs, topologies and options made through the C interface from fuzz bytes, and their release.
#pragma once

#include <memory>
#include <vector>

#include "runtime/include/placeto/placeto.h"
#include "tests/fuzz/input.h"

namespace placeto::fuzz {

template <class Handle, void (*kFree)(Handle*) noexcept>
struct Deleter {
  void operator()(Handle* handle) const { kFree(handle); }
};
using GraphHandle = std::unique_ptr<placeto_graph, Deleter<placeto_graph, placeto_graph_free>>;
using TopologyHandle =
    std::unique_ptr<placeto_topology, Deleter<placeto_topology, placeto_topology_free>>;
using PolicyHandle = std::unique_ptr<placeto_policy, Deleter<placeto_policy, placeto_policy_free>>;
using PlacementHandle =
    std::unique_ptr<placeto_placement, Deleter<placeto_placement, placeto_placement_free>>;

// The status of a call agrees with what it wrote to `error`, and is none that only a fault of the
// library gives. Returns whether the call succeeded.
bool check_outcome(placeto_status status, const placeto_error& error);

// Null when what the bytes describe is refused.
GraphHandle make_graph(Input& input);
TopologyHandle make_topology(Input& input);

// Options and the lists that they point to. Budgets are small: a test has to end.
struct Options {
  placeto_options value;
  std::vector<placeto_node_device> pins, forbids;
  std::vector<uint32_t> together;
  placeto_node_list colocate;
  std::vector<uint64_t> shortfall;
};
void choose_options(Input& input, uint32_t nodes, uint32_t devices, Options& options);

}  // namespace placeto::fuzz
