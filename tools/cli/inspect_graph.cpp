#include "tools/cli/inspect_kinds.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "runtime/base/saturating.h"
#include "tools/cli/outcome.h"
#include "tools/cli/sheet.h"
#include "tools/workloads/workload.h"

namespace placeto::cli {
namespace {

struct GraphFigures {
  uint64_t outputs = 0, output_bytes = 0, resident_bytes = 0, workspace_bytes = 0, flops = 0;
  uint64_t control_edges = 0, estimated = 0, fused = 0, colocated_nodes = 0, depth = 0, sources = 0,
           sinks = 0;
  std::set<std::string> colocations;
  std::map<std::string, uint64_t> ops;
  std::set<uint32_t> opsets;    // what is known
  uint64_t typed = 0;           // nodes whose inputs have types
  std::vector<double> cost_us;  // total per kind, of the nodes that state it and can run there
  double ccr = 0;
};

// Nodes on the longest path.
uint64_t depth_of(const Graph& graph) {
  std::vector<uint64_t> depth(graph.node_count(), 1);
  for (const uint32_t v : graph.topological_order()) {
    for (const OutEdge& e : graph.out_edges(v)) {
      depth[e.target] = std::max(depth[e.target], depth[v] + 1);
    }
  }
  return *std::max_element(depth.begin(), depth.end());
}

void count_node(const Graph& graph, uint32_t v, GraphFigures& figures) {
  const NodeSpec& node = graph.node(v);
  figures.outputs += node.outputs.size();
  for (const uint64_t bytes : node.outputs) {
    figures.output_bytes = saturating_add(figures.output_bytes, bytes);
  }
  figures.resident_bytes = saturating_add(figures.resident_bytes, node.resident_bytes);
  figures.workspace_bytes = std::max(figures.workspace_bytes, node.workspace_bytes);
  figures.flops = saturating_add(figures.flops, node.flops);
  figures.estimated += node.cost_us.empty() ? 1 : 0;
  figures.fused += node.fused ? 1 : 0;
  figures.sources += graph.in_edges(v).empty() ? 1 : 0;
  figures.sinks += graph.out_edges(v).empty() ? 1 : 0;
  ++figures.ops[node.op];
  if (node.opset != 0) figures.opsets.insert(node.opset);
  figures.typed += node.input_types.empty() ? 0 : 1;
  if (!node.colocate.empty()) {
    ++figures.colocated_nodes;
    figures.colocations.insert(node.colocate);
  }
  figures.cost_us.resize(std::max<size_t>(figures.cost_us.size(), node.cost_us.size()), 0);
  for (size_t k = 0; k < node.cost_us.size(); ++k) {
    figures.cost_us[k] += std::max(node.cost_us[k], 0.0);
  }
}

// As of workload.h: mean transfer time over the reference link, by mean run time on the first kind.
// Zero when no node states a run time.
double ratio_of(const Graph& graph, const GraphFigures& figures) {
  double bytes = 0, edges = 0;
  for (uint32_t v = 0; v < graph.node_count(); ++v) {
    for (const OutEdge& e : graph.out_edges(v)) {
      if (e.output == kControlEdge) continue;
      bytes += static_cast<double>(graph.output_bytes(e.output));
      edges += 1;
    }
  }
  if (edges == 0 || figures.cost_us.empty() || figures.cost_us[0] <= 0) return 0;
  const double mean_cost =
      figures.cost_us[0] / static_cast<double>(graph.node_count() - figures.estimated);
  return bytes / edges / kReferenceBandwidth / mean_cost;
}

GraphFigures measure(const Graph& graph) {
  GraphFigures figures;
  for (uint32_t v = 0; v < graph.node_count(); ++v) count_node(graph, v, figures);
  for (const EdgeSpec& e : graph.spec().edges) {
    figures.control_edges += e.output == kControlEdge ? 1 : 0;
  }
  figures.depth = depth_of(graph);
  figures.ccr = ratio_of(graph, figures);
  return figures;
}

}  // namespace

std::string ops_text(const std::map<std::string, uint64_t>& ops, size_t shown) {
  constexpr size_t kLetters = 40;
  std::vector<std::pair<uint64_t, std::string>> order;
  for (const auto& [op, count] : ops) order.emplace_back(count, op.empty() ? "(none)" : op);
  std::sort(order.begin(), order.end(), [](const auto& a, const auto& b) {
    return a.first != b.first ? a.first > b.first : a.second < b.second;
  });
  std::vector<std::string> parts;
  for (size_t i = 0; i < std::min(order.size(), shown); ++i) {
    parts.push_back(fmt::format("{} {}", shortened(order[i].second, kLetters), order[i].first));
  }
  if (order.size() > shown) parts.push_back(fmt::format("{} more", order.size() - shown));
  return fmt::format("{}", fmt::join(parts, ", "));
}

Json describe(const Graph& graph) {
  const GraphFigures f = measure(graph);
  const auto kinds = graph.kinds();
  return {{"kind", "graph"},
          {"name", graph.name()},
          {"kinds", std::vector<std::string>(kinds.begin(), kinds.end())},
          {"nodes", graph.node_count()},
          {"edges", graph.edge_count()},
          {"control_edges", f.control_edges},
          {"outputs", f.outputs},
          {"sources", f.sources},
          {"sinks", f.sinks},
          {"depth", f.depth},
          {"output_bytes", f.output_bytes},
          {"resident_bytes", f.resident_bytes},
          {"largest_workspace_bytes", f.workspace_bytes},
          {"flops", f.flops},
          {"total_cost_us", f.cost_us},
          {"nodes_without_cost", f.estimated},
          {"fused_nodes", f.fused},
          {"ccr", f.ccr > 0 ? Json(f.ccr) : Json(nullptr)},
          {"colocations", f.colocations.size()},
          {"colocated_nodes", f.colocated_nodes},
          {"opsets", f.opsets},
          {"typed_nodes", f.typed},
          {"ops", f.ops}};
}

std::string summarize(const Graph& graph) {
  constexpr size_t kShownOps = 12;
  const GraphFigures f = measure(graph);
  Sheet sheet;
  sheet.add("graph", graph.name());
  sheet.add("nodes", fmt::format("{} ({}, {})", format_count(graph.node_count()),
                                 plural(f.sources, "source"), plural(f.sinks, "sink")));
  sheet.add("edges", fmt::format("{} ({} control)", format_count(graph.edge_count()),
                                 format_count(f.control_edges)));
  sheet.add("depth", plural(f.depth, "node") + " on the longest path");
  sheet.add("outputs",
            fmt::format("{}, {}", format_count(f.outputs), format_bytes(f.output_bytes)));
  sheet.add("resident", format_bytes(f.resident_bytes));
  sheet.add("workspace", format_bytes(f.workspace_bytes) + " at most");
  sheet.add("flops", format_si(static_cast<double>(f.flops)));
  for (size_t k = 0; k < f.cost_us.size(); ++k) {
    const std::string kind = k < graph.kinds().size() ? graph.kinds()[k] : "any kind";
    sheet.add("run time", format_us(f.cost_us[k]) + " on " + kind);
  }
  if (f.estimated != 0) {
    sheet.add("estimated", plural(f.estimated, "node") + " without a run time");
  }
  if (f.fused != 0) sheet.add("fused", plural(f.fused, "node") + " with others, or at load");
  if (f.ccr > 0) sheet.add("ccr", fmt::format("{:.3g} over {} B/us", f.ccr, kReferenceBandwidth));
  if (!f.colocations.empty()) {
    sheet.add("colocation", fmt::format("{} in {}", plural(f.colocated_nodes, "node"),
                                        plural(f.colocations.size(), "set")));
  }
  if (!f.opsets.empty()) {
    sheet.add("operator sets", fmt::format("{}", fmt::join(f.opsets, ", ")));
  }
  if (f.typed != 0) sheet.add("input types", "known of " + plural(f.typed, "node"));
  sheet.add("operators", ops_text(f.ops, kShownOps));
  return sheet.render();
}

}  // namespace placeto::cli
