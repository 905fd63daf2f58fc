#include "tools/tune/spread_whole.h"

#include <algorithm>

namespace placeto {
namespace {

constexpr double kLeastForNodes = 0.1;

// What the run has beside its nodes is at most the rest of kLeastForNodes.
void lower_prices(WholeRun& run) {
  double beside = run.session_us + run.inputs_us;
  for (const auto& [node, us] : run.outputs) beside += us;
  const double most = (1 - kLeastForNodes) * run.all_us;
  if (beside <= most) return;
  const double factor = most / beside;
  run.session_us *= factor;
  run.inputs_us *= factor;
  for (auto& [node, us] : run.outputs) us *= factor;
}

}  // namespace

void spread_whole(const Graph& graph, WholeRun run, std::vector<std::optional<double>>& us) {
  lower_prices(run);
  double nodes_us = run.all_us - run.session_us - run.inputs_us, sum = 0;
  for (const auto& [node, out_us] : run.outputs) nodes_us -= out_us;
  for (const auto& time : us) sum += std::max(0.0, time.value_or(0));
  for (auto& time : us) {
    if (time.value_or(0) > 0) time = *time * (nodes_us / sum);
  }
  const auto add = [&](uint32_t node, double more) {
    if (us[node].value_or(-1) >= 0) us[node] = *us[node] + more;
  };
  std::vector<uint32_t> begins;
  for (uint32_t v = 0; v < graph.node_count(); ++v) {
    if (graph.in_edges(v).empty() && us[v].value_or(-1) >= 0) begins.push_back(v);
  }
  for (const uint32_t v : begins) add(v, run.inputs_us / static_cast<double>(begins.size()));
  for (const auto& [node, out_us] : run.outputs) add(node, out_us);
}

}  // namespace placeto
