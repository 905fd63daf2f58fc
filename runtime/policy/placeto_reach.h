// The three sets of nodes that a `placeto` step pools: those the current node depends on, those
// that depend on it, and the rest.
//
// Found for one node at a time by walking the edges from it. A table of all pairs, as bit sets,
// takes N^2 / 4 bytes (2.5 GB for 100,000 nodes) and saves nothing that shows: a walk visits each
// node and edge at most once, while embedding the graph for the same step works on each of them
// dozens of times. README.md has the measurement: 1% of a step.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "runtime/graph/graph.h"

namespace placeto {

// No allocation after construction. The graph must outlive it.
class PlacetoReach {
 public:
  explicit PlacetoReach(const Graph& graph);

  // O(nodes + edges).
  void find(uint32_t node);
  // Of the last find, ascending; the node itself is in none of them.
  std::span<const uint32_t> ancestors() const { return ancestors_; }
  std::span<const uint32_t> descendants() const { return descendants_; }
  std::span<const uint32_t> unrelated() const { return unrelated_; }

 private:
  enum class Relation : uint8_t { kUnrelated, kSelf, kAncestor, kDescendant };

  void visit(uint32_t node, Relation relation);

  const Graph* graph_;
  std::vector<Relation> relation_;
  std::vector<uint32_t> stack_;
  std::vector<uint32_t> ancestors_, descendants_, unrelated_;
};

}  // namespace placeto
