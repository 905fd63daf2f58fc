// Estimated run times by class of operator: the roofline model of runtime/cost/estimate.h with
// rates and a launch time of each class instead of one for all.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "runtime/graph/graph.h"
#include "tools/costs/operator_class.h"

namespace placeto {

// What a kind of device reaches of its peak rates on operators of one class.
struct ClassEfficiency {
  double flops = 0;      // share of peak_flops
  double bandwidth = 0;  // share of memory_bandwidth; above 1 where tensors stay in caches
  double launch_us = 0;  // per operator
  uint32_t samples = 0;  // nodes it was fitted to; 0: taken over from all classes together
  friend bool operator==(const ClassEfficiency&, const ClassEfficiency&) = default;
};

struct Efficiencies {
  std::string kind;             // of device
  std::string device;           // what was measured, in words; may be empty
  double peak_flops = 0;        // per second; what the shares refer to
  double memory_bandwidth = 0;  // bytes per second
  std::array<ClassEfficiency, kOperatorClassCount> classes;
  friend bool operator==(const Efficiencies&, const Efficiencies&) = default;
};

// The rule that holds without an efficiency file: one row, runtime/cost/estimate.h's, for all.
Efficiencies default_efficiencies(const std::string& kind, double peak_flops,
                                  double memory_bandwidth);

// What a node does, as the estimate sees it.
struct NodeWork {
  OperatorClass operator_class;
  double flops;
  double bytes;     // bytes_accessed, or else all tensors and parameters once
  double launches;  // at least 1
  bool fused;       // part of another node, or computed at load: says the graph, or fusion.h
};
std::vector<NodeWork> node_works(const Graph& graph);

// max(flops / (peak_flops x share), bytes / (memory_bandwidth x share)) + launches x launch, in
// microseconds.
double roofline_us(const NodeWork& work, const ClassEfficiency& efficiency, double peak_flops,
                   double memory_bandwidth);
// The same with the row of the node's class; 0 for fused nodes.
double estimate_us(const NodeWork& work, const Efficiencies& efficiencies);

// The class of the node's operator; a convolution with few operations per output element is thin.
OperatorClass class_of(const NodeSpec& node);

}  // namespace placeto
