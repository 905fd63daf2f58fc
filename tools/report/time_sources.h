// Where the run times of a graph come from, for what shows or compares them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "runtime/graph/graph.h"
#include "runtime/graph/topology.h"

namespace placeto {

enum class TimeSource : uint8_t { kEstimated, kGiven, kMeasured };  // the report's page has these

// Of a graph that says of some run times that they were measured, the others were estimated.
class TimeSources {
 public:
  explicit TimeSources(const Graph& graph);

  // Of a graph without measured run times nothing is estimated but what has no run time at all.
  bool any_measured() const { return any_measured_; }
  TimeSource of(uint32_t node, std::string_view kind) const { return at(node, column_of(kind)); }

  // The same of an entry of the node's run times; `column_of` is their number, or more, for a kind
  // that the graph does not list.
  TimeSource at(uint32_t node, size_t column) const;
  size_t column_of(std::string_view kind) const;

 private:
  const Graph& graph_;
  bool any_measured_;
};

// "cpu measured, gpu estimated" if run times on some kinds of the topology's devices were measured,
// or are given, and on others not, or of fewer nodes; else "". What a kind cannot run does not
// count.
std::string unlike_times(const Graph& graph, const Topology& topology);

// "3 of 9 nodes cannot run on 'gpu:0', which lacks peak_flops to estimate run times from" of every
// device of which that is true; else "".
std::string lacking_rates(const Graph& graph, const Topology& topology);

}  // namespace placeto
