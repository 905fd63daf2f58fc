#include "tools/cli/explain.h"

#include <fmt/format.h>

#include <numeric>

#include "runtime/placer/explain.h"
#include "tools/cli/common.h"
#include "tools/cli/rules.h"
#include "tools/report/table.h"

namespace placeto::cli {
namespace {

std::string second_best(const Problem& problem, const Reason& reason) {
  if (!reason.second) return "no other device may run it";
  const std::string& name = problem.topology().device(reason.second->device).name;
  if (!reason.second->score.feasible()) return shortened(name, 24) + " (out of memory)";
  return shortened(name, 24);
}

std::string change(const Reason& reason) {
  if (!reason.second || reason.score.objective_us <= 0) return "-";
  const double there = reason.second->score.objective_us, here = reason.score.objective_us;
  return fmt::format("{:+.3f}%", 100 * (there / here - 1));
}

}  // namespace

std::vector<uint32_t> nodes_to_explain(const std::string& text, const Graph& graph,
                                       const Topology& topology) {
  if (text.empty()) return {};
  if (text != "all") return {resolve_node("--explain", text, graph, topology)};
  std::vector<uint32_t> nodes(graph.node_count());
  std::iota(nodes.begin(), nodes.end(), 0u);
  return nodes;
}

std::string explanation(const Problem& problem, std::span<const uint32_t> assignment,
                        std::span<const uint32_t> nodes, bool color) {
  Table table({{"node", Align::kLeft},
               {"op", Align::kLeft},
               {"device", Align::kLeft},
               {"second best", Align::kLeft},
               {"would be", Align::kRight},
               {"change", Align::kRight}});
  Explainer explainer(problem, assignment);
  for (const uint32_t v : nodes) {
    const Reason reason = explainer.explain(v);
    const NodeSpec& node = problem.graph().node(v);
    table.add_row(
        {shortened(node.name, 48), shortened(node.op, 24),
         shortened(problem.topology().device(reason.device).name, 24), second_best(problem, reason),
         reason.second ? format_us(reason.second->score.objective_us) : "-", change(reason)});
  }
  return table.render(color);
}

std::vector<ReasonSpec> reasons_of(const Problem& problem, std::span<const uint32_t> assignment,
                                   std::span<const uint32_t> nodes) {
  std::vector<ReasonSpec> reasons;
  if (nodes.empty()) return reasons;
  Explainer explainer(problem, assignment);
  for (const uint32_t v : nodes) {
    const Reason reason = explainer.explain(v);
    ReasonSpec& spec = reasons.emplace_back();
    spec.node = v;
    spec.device = reason.device;
    spec.cost_us = reason.score.objective_us;
    if (!reason.second) continue;
    spec.second_device = reason.second->device;
    spec.second_cost_us = reason.second->score.objective_us;
    spec.second_feasible = reason.second->score.feasible();
  }
  return reasons;
}

}  // namespace placeto::cli
