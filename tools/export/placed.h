// A placement with the names it speaks of: what every export starts from.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "runtime/base/no_index.h"
#include "runtime/base/result.h"
#include "runtime/format/placement.h"
#include "runtime/graph/graph.h"

namespace placeto {

struct PlacedNode {
  std::string name;
  std::string op;
  uint32_t device = 0;                    // index into Placed::devices
  uint64_t resident_bytes = 0;            // parameters
  uint32_t stage = kNoIndex;              // as recorded
  std::vector<std::string> outputs = {};  // their names in the model; empty: not known
};

// What the cost model predicts of a staged run.
struct Prediction {
  double makespan_us = 0;            // 0: nothing is predicted
  double whole_us = 0;               // on the first processor that it fits on; 0: none
  std::vector<double> start_us, us;  // per recorded stage
};

struct Placed {
  std::string graph, topology;       // names
  std::vector<std::string> devices;  // names
  std::vector<PlacedNode> nodes;
  std::vector<uint32_t> order = {};  // of stages, as recorded; empty: none
  Prediction prediction = {};
  std::vector<std::string> dims = {};  // the numbers of free dimensions: "batch=1"
  // Inputs that always have a value, and are none of the stages: {"use_cache", "false"}.
  std::vector<std::pair<std::string, std::string>> set = {};
};

// "is of graph 'a', and this is graph 'b'"; "" where the placement names no graph, or this one.
std::string of_other_graph(const PlacementSpec& placement, const std::string& graph);

// Fails with kBadInput when the placement has not one entry per node of the graph.
Result<Placed> placed_graph(const PlacementSpec& placement, const Graph& graph);

// For each entry of devices, whether a node is on it.
std::vector<bool> used_devices(const Placed& placed);

}  // namespace placeto
