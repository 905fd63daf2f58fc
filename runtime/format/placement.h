// Placements as they are written down, and their meaning on a graph and a topology.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "runtime/base/limits.h"
#include "runtime/base/no_index.h"
#include "runtime/base/result.h"
#include "runtime/cost/problem.h"
#include "runtime/cost/simulator.h"
#include "runtime/cost/stages.h"

namespace placeto {

// One way that was tried, and what came of it.
struct CandidateSpec {
  std::string method;
  double makespan_us = 0;
  bool feasible = false;
  double bottleneck_us = 0;
  std::vector<uint64_t> peak_memory_bytes;  // per device, or empty
  friend bool operator==(const CandidateSpec&, const CandidateSpec&) = default;
};

inline constexpr uint32_t kMostCandidates = 4'096, kMostDims = 4'096;  // of a file
// Largest extent of one axis.
inline constexpr uint64_t kMaxExtent = uint64_t{1} << 31;

// Why a node is where it is: what the cost would be elsewhere.
struct ReasonSpec {
  uint32_t node = 0;
  uint32_t device = 0;                // index into devices, as in assignment
  double cost_us = 0;                 // makespan, or bottleneck when placed for throughput
  uint32_t second_device = kNoIndex;  // the best of the others, if there is one
  double second_cost_us = 0;          // with the node, and those that share its device, there
  bool second_feasible = false;       // that would fit every device's memory
  friend bool operator==(const ReasonSpec&, const ReasonSpec&) = default;
};

// A placement as it is written down, field by field: schema/README.md says what each means.
struct PlacementSpec {
  std::string graph;                        // name of the graph
  std::string topology;                     // name of the topology
  std::vector<std::string> devices;         // names; what the entries of assignment refer to
  std::vector<uint32_t> assignment;         // per node, an index into devices
  double makespan_us = 0;                   // by the cost model
  std::vector<uint64_t> peak_memory_bytes;  // per entry of devices; empty: unknown
  std::string method;                       // what found it
  // How it was found: what `place --json` prints and no placing reads.
  std::vector<CandidateSpec> candidates;
  double lower_bound_us = 0, place_time_us = 0, bottleneck_us = 0;  // 0: unknown
  std::string note;
  std::vector<ReasonSpec> reasons;  // of the nodes that were asked for
  bool proved = false;              // no placement is better
  // Under staged execution (cost/stages.h), else empty: a stage per node, and the order in which
  // devices take them.
  std::vector<uint32_t> stages, order;
  std::vector<std::string> dims;  // of free dimensions of the model: "batch=1"
  std::string engine;             // whose execution and prices were taken; "": the topology's own
  double replicas_us = 0;         // a run, with a copy of the model on every device; 0: unknown
  double sequential_us = 0;       // a run, one at a time, if less than the bottleneck; else 0
};

// What must hold of a placement by itself: distinct, non-empty device names, indices in range,
// finite times that are not negative, one peak memory per device or none, dims of the form NAME=N,
// sizes within the limits.
Status check_placement(const PlacementSpec& spec, const Limits& limits = {});

// Fails with kBadInput when it has not one entry for each of the nodes of `what`: "graph 'net'".
Status check_entries(const PlacementSpec& spec, size_t nodes, std::string_view what);

// The placement in terms of the topology's device indices. Fails with kBadInput when it has not
// one entry per node or names a device that the topology lacks. Whether the devices can run the
// nodes is for Problem to say.
Result<Assignment> resolve_placement(const PlacementSpec& spec, const Graph& graph,
                                     const Topology& topology, const Limits& limits = {});

// The stages of the placement, on the topology's devices; without any, an empty division. Fails
// with kBadInput when a dependency of the graph leads to a lower stage, or `order` puts a stage
// before one that it reads from.
Result<Division> resolve_stages(const PlacementSpec& spec, const Graph& graph,
                                const Assignment& assignment);

// Describes an assignment to this graph and topology, listing all the topology's devices.
// `timeline`: of its run, for times, peaks and stages.
PlacementSpec describe_placement(const Graph& graph, const Topology& topology,
                                 std::span<const uint32_t> assignment, const Timeline& timeline,
                                 std::string method);

}  // namespace placeto
