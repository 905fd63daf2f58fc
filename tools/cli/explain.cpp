#include "tools/cli/explain.h"

#include <fmt/format.h>

#include <numeric>

#include "runtime/placer/explain.h"
#include "tools/cli/common.h"
#include "tools/cli/rules.h"
#include "tools/report/table.h"

namespace placeto::cli {
namespace {

bool has_second(const ReasonSpec& reason) {
  return reason.second_device != kNoIndex;
}

std::string second_best(const Problem& problem, const ReasonSpec& reason) {
  if (!has_second(reason)) return "no other device may run it";
  const std::string name = shortened(problem.topology().device(reason.second_device).name, 24);
  return reason.second_feasible ? name : name + " (out of memory)";
}

std::string change(const ReasonSpec& reason) {
  if (!has_second(reason) || reason.cost_us <= 0) return "-";
  return fmt::format("{:+.3f}%", 100 * (reason.second_cost_us / reason.cost_us - 1));
}

}  // namespace

std::vector<uint32_t> nodes_to_explain(const std::string& text, const Graph& graph,
                                       const Topology& topology) {
  if (text.empty()) return {};
  if (text != "all") return resolve_nodes("--explain", text, graph, topology);
  std::vector<uint32_t> nodes(graph.node_count());
  std::iota(nodes.begin(), nodes.end(), 0u);
  return nodes;
}

std::vector<ReasonSpec> reasons_of(const Problem& problem, const Candidate& placed,
                                   std::span<const uint32_t> nodes, Watch* watch) {
  std::vector<ReasonSpec> reasons;
  if (nodes.empty()) return reasons;
  Stop* const stop = watch == nullptr ? nullptr : &watch->stop();
  Explainer explainer(problem, placed.assignment, placed.division, stop);
  for (const uint32_t v : nodes) {
    const Reason reason = explainer.explain(v);
    if (stopped(stop)) break;
    ReasonSpec& spec = reasons.emplace_back();
    if (watch != nullptr) watch->note_done(reasons.size());
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

std::string explanation(const Problem& problem, std::span<const ReasonSpec> reasons) {
  Table table({{"node", Align::kLeft},
               {"op", Align::kLeft},
               {"device", Align::kLeft},
               {"second best", Align::kLeft, true},
               {"would be", Align::kRight},
               {"change", Align::kRight}});
  for (const ReasonSpec& reason : reasons) {
    const NodeSpec& node = problem.graph().node(reason.node);
    table.add_row({shortened(node.name, 48), shortened(node.op, 24),
                   shortened(problem.topology().device(reason.device).name, 24),
                   second_best(problem, reason),
                   has_second(reason) ? format_us(reason.second_cost_us) : "-", change(reason)});
  }
  return table.render();
}

}  // namespace placeto::cli
