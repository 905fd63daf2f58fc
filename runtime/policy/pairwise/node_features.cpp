#include "runtime/policy/pairwise/node_features.h"

#include <algorithm>

namespace placeto {
namespace {

struct Scales {
  double run_us = 0, rank_us = 0, makespan_us = 0;
};

void fill_row(const PlacementState& state, const Scales& scales, uint32_t node, uint32_t position,
              float* out, Stop* stop) {
  const Problem& problem = state.problem();
  const Graph& graph = problem.graph();
  const auto set = [out](NodeFeature feature, double value) {
    const auto i = static_cast<uint32_t>(feature);
    out[i] =
        std::clamp(static_cast<float>(value), kNodeFeatureList[i].low, kNodeFeatureList[i].high);
  };
  double transfer = 0;
  for (uint32_t o = graph.output_begin(node); o < graph.output_end(node); ++o) {
    transfer += problem.mean_transfer_us(o);
  }
  uint32_t remote_in = 0, remote_out = 0;
  for (const InEdge& in : watched(graph.in_edges(node), stop)) {
    remote_in += state.device_of(in.source) != state.device_of(node);
  }
  for (const OutEdge& e : watched(graph.out_edges(node), stop)) {
    remote_out += state.device_of(e.target) != state.device_of(node);
  }
  using F = NodeFeature;
  set(F::k_run, ratio(problem.mean_run_us(node), scales.run_us));
  set(F::k_transfer, ratio(transfer, transfer + scales.run_us));
  set(F::k_rank, ratio(problem.upward_rank()[node], scales.rank_us));
  set(F::k_depth, ratio(position, graph.node_count()));
  set(F::k_start, ratio(state.start_us(node), scales.makespan_us));
  set(F::k_wait, ratio(state.wait_us(node), scales.makespan_us));
  set(F::k_node_slack, ratio(state.slack_us(node), scales.makespan_us));
  set(F::k_critical, state.critical(node) ? 1 : 0);
  set(F::k_remote_inputs, ratio(remote_in, static_cast<double>(graph.in_edges(node).size())));
  set(F::k_remote_outputs, ratio(remote_out, static_cast<double>(graph.out_edges(node).size())));
}

}  // namespace

void node_features(const PlacementState& state, float* out, Stop* stop) {
  const Problem& problem = state.problem();
  Scales scales;
  scales.makespan_us = state.makespan_us();
  for (uint32_t v = 0; v < problem.node_count(); ++v) {
    scales.run_us = std::max(scales.run_us, problem.mean_run_us(v));
    scales.rank_us = std::max(scales.rank_us, problem.upward_rank()[v]);
  }
  const auto order = problem.graph().topological_order();
  for (uint32_t i = 0; i < order.size(); ++i) {
    fill_row(state, scales, order[i], i, out + size_t{order[i]} * kNodeFeatures, stop);
    const size_t edges =
        problem.graph().in_edges(order[i]).size() + problem.graph().out_edges(order[i]).size();
    if (spend(stop, 2 + edges)) return;
  }
}

}  // namespace placeto
