// Names of TensorRT's layers, which join those of the nodes that a layer runs: "a + b", "a || b",
// "PWN(a, b)", "PWN(PWN(a), b)", and "{ForeignNode[a...b]}" for all from a to b.
#pragma once

#include <cstdint>
#include <functional>
#include <string_view>
#include <vector>

#include "runtime/graph/graph.h"

namespace placeto {

// Finds the nodes between two, for so many that the work stays bounded.
class RangeWalk {
 public:
  explicit RangeWalk(const Graph& graph) : graph_(graph) {}
  // Both, and all on a path from the first to the last, in topological order.
  std::vector<uint32_t> between(uint32_t first, uint32_t last);

 private:
  std::vector<bool> reached(uint32_t from, bool forward);

  const Graph& graph_;
  uint64_t left_ = 100'000'000;  // nodes and edges to go through; then only both ends
};

// The node of that name, kNoIndex if there is none.
using NodeLookup = std::function<uint32_t(std::string_view)>;

// All nodes that the name names, each once; names of others are left out.
std::vector<uint32_t> joined_nodes(std::string_view name, const NodeLookup& lookup,
                                   RangeWalk& walk);

}  // namespace placeto
