// Estimated run time of a node whose cost is not given: the roofline model.
// Williams, Waterman and Patterson, "Roofline: an insightful visual performance model for
// multicore architectures", CACM 2009.
#pragma once

#include <optional>
#include <string_view>

#include "runtime/base/stop.h"
#include "runtime/graph/graph.h"
#include "runtime/graph/topology.h"

namespace placeto {

// What a kind of device reaches of its data sheet on operators of common networks, and what it
// costs to start one. Round figures, to be replaced by measured costs where they matter.
struct Efficiency {
  double flops;      // share of peak_flops
  double bandwidth;  // share of memory_bandwidth
  double launch_us;  // per operator
};
Efficiency default_efficiency(std::string_view kind);

// bytes_accessed; operators that nobody counted bytes for move at least their tensors and
// parameters once: the sum of what the node reads, writes and keeps resident.
double bytes_moved(const Graph& graph, uint32_t node, Stop* stop = nullptr);

// max(flops / (peak_flops x efficiency), bytes moved / (memory_bandwidth x efficiency)) + launches
// x launch time, in microseconds, before the device's slowdown; 0 for fused nodes. nullopt when the
// device lacks a rate that is needed.
std::optional<double> estimate_run_us(const NodeSpec& node, double bytes, const DeviceSpec& device);

}  // namespace placeto
