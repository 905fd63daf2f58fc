#include "tools/costs/roofline.h"

#include <algorithm>
#include <numeric>

#include "runtime/cost/estimate.h"
#include "tools/costs/fusion.h"

namespace placeto {
namespace {

// A 7 x 7 filter on one channel has 98 operations per element; a 3 x 3 filter on 16 has 288.
constexpr double kThinFlopsPerElement = 128;
constexpr double kElementBytes = 4;

}  // namespace

OperatorClass class_of(const NodeSpec& node) {
  const OperatorClass by_name = operator_class_of(node.op);
  if (by_name != OperatorClass::kConvolution) return by_name;
  const double elements =
      std::accumulate(node.outputs.begin(), node.outputs.end(), 0.0) / kElementBytes;
  const bool thin = static_cast<double>(node.flops) < kThinFlopsPerElement * elements;
  return thin ? OperatorClass::kThin : by_name;
}

Efficiencies default_efficiencies(const std::string& kind, double peak_flops,
                                  double memory_bandwidth) {
  const Efficiency rule = default_efficiency(kind);
  Efficiencies efficiencies;
  efficiencies.kind = kind;
  efficiencies.peak_flops = peak_flops;
  efficiencies.memory_bandwidth = memory_bandwidth;
  efficiencies.classes.fill({rule.flops, rule.bandwidth, rule.launch_us, 0});
  return efficiencies;
}

std::vector<NodeWork> node_works(const Graph& graph) {
  const std::vector<bool> fused = fused_nodes(graph);
  std::vector<NodeWork> works;
  for (uint32_t v = 0; v < graph.node_count(); ++v) {
    const NodeSpec& node = graph.node(v);
    works.push_back({class_of(node), static_cast<double>(node.flops), bytes_moved(graph, v),
                     static_cast<double>(std::max<uint64_t>(node.launches, 1)),
                     fused[v] || node.fused});
  }
  return works;
}

double roofline_us(const NodeWork& work, const ClassEfficiency& efficiency, double peak_flops,
                   double memory_bandwidth) {
  const double compute_s = work.flops / (peak_flops * efficiency.flops);
  const double memory_s = work.bytes / (memory_bandwidth * efficiency.bandwidth);
  return std::max(compute_s, memory_s) * 1e6 + work.launches * efficiency.launch_us;
}

double estimate_us(const NodeWork& work, const Efficiencies& efficiencies) {
  if (work.fused) return 0;
  return roofline_us(work, efficiencies.classes[static_cast<size_t>(work.operator_class)],
                     efficiencies.peak_flops, efficiencies.memory_bandwidth);
}

}  // namespace placeto
