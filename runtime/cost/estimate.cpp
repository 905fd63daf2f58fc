#include "runtime/cost/estimate.h"

#include <algorithm>

namespace placeto {

Efficiency default_efficiency(std::string_view kind) {
  if (kind == "cpu") return {.flops = 0.6, .bandwidth = 0.7, .launch_us = 1};
  if (kind == "gpu") return {.flops = 0.5, .bandwidth = 0.7, .launch_us = 5};
  if (kind == "npu") return {.flops = 0.5, .bandwidth = 0.7, .launch_us = 10};
  return {.flops = 0.5, .bandwidth = 0.7, .launch_us = 5};
}

double bytes_moved(const Graph& graph, uint32_t node, Stop* stop) {
  const NodeSpec& spec = graph.node(node);
  if (spec.bytes_accessed != 0) return static_cast<double>(spec.bytes_accessed);
  double bytes = static_cast<double>(spec.resident_bytes);
  for (uint64_t output : watched(spec.outputs, stop)) bytes += static_cast<double>(output);
  for (const InEdge& in : watched(graph.in_edges(node), stop)) {
    if (in.output != kControlEdge) bytes += static_cast<double>(graph.output_bytes(in.output));
  }
  return bytes;
}

std::optional<double> estimate_run_us(const NodeSpec& node, double bytes,
                                      const DeviceSpec& device) {
  const Efficiency efficiency = default_efficiency(device.kind);
  const auto flops = static_cast<double>(node.flops);
  const auto launches = static_cast<double>(std::max<uint64_t>(node.launches, 1));
  if (flops > 0 && device.peak_flops == 0) return std::nullopt;
  if (bytes > 0 && device.memory_bandwidth == 0) return std::nullopt;
  if (node.fused) return 0;
  const double compute_s = flops > 0 ? flops / (device.peak_flops * efficiency.flops) : 0;
  const double memory_s = bytes > 0 ? bytes / (device.memory_bandwidth * efficiency.bandwidth) : 0;
  return std::max(compute_s, memory_s) * 1e6 + launches * efficiency.launch_us;
}

}  // namespace placeto
