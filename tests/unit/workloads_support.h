// What the workload tests share: generating a graph that must be valid, and sums over it.
#pragma once

#include <doctest/doctest.h>

#include <functional>
#include <string>

#include "tools/workloads/workload.h"

namespace placeto {

inline GraphSpec generated(std::string_view name, const WorkloadOptions& options = {}) {
  Result<GraphSpec> graph = generate(name, options);
  INFO(std::string(name), ": ", graph.status().message());
  REQUIRE(graph.ok());
  return std::move(graph).value();
}

inline WorkloadOptions one_sample() {
  WorkloadOptions options;
  options.batch = 1;
  return options;
}

// Sum of flops over the nodes whose operator satisfies the predicate.
inline double flops_where(const GraphSpec& graph,
                          const std::function<bool(const std::string&)>& is_counted) {
  double sum = 0;
  for (const NodeSpec& node : graph.nodes) {
    if (is_counted(node.op)) sum += static_cast<double>(node.flops);
  }
  return sum;
}

inline bool is_product(const std::string& op) {
  return op == "Conv2D" || op == "DepthwiseConv2D" || op == "MatMul" || op == "BatchMatMul";
}

// Multiply-adds of one forward pass, the way papers count them: matrix products and convolutions.
inline double multiply_adds(const GraphSpec& graph) {
  return flops_where(graph, is_product) / 2;
}

inline double resident_floats(const GraphSpec& graph) {
  double bytes = 0;
  for (const NodeSpec& node : graph.nodes) bytes += static_cast<double>(node.resident_bytes);
  return bytes / 4;
}

}  // namespace placeto
