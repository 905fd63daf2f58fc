#include "tools/tune/feedback.h"

#include <algorithm>
#include <cmath>

namespace placeto {
namespace {

constexpr double kMostChange = 2;

double sum_of(const std::vector<double>& cost_us, const std::vector<uint32_t>& nodes) {
  double sum = 0;
  for (const uint32_t v : nodes) sum += std::max(0.0, cost_us[v]);
  return sum;
}

// What all stages of a kind took beyond their nodes and prices, shared by them evenly.
double mean_excess(const std::vector<double>& cost_us, uint32_t kind,
                   std::span<const StageObservation> stages) {
  double excess = 0, count = 0;
  for (const StageObservation& stage : stages) {
    if (stage.kind != kind) continue;
    excess += stage.measured_us - stage.prices_us - sum_of(cost_us, stage.nodes);
    ++count;
  }
  return count > 0 ? excess / count : 0;
}

// Geometric mean, over the stages that a node was in, of how far each was off.
std::vector<double> mean_factors(const std::vector<double>& cost_us, uint32_t kind,
                                 std::span<const StageObservation> stages, double excess_us) {
  std::vector<double> logs(cost_us.size(), 0);
  std::vector<uint32_t> seen(cost_us.size(), 0);
  for (const StageObservation& stage : stages) {
    const double nodes_us = stage.kind == kind ? sum_of(cost_us, stage.nodes) : 0;
    if (nodes_us <= 0) continue;
    const double target = stage.measured_us - stage.prices_us - excess_us;
    const double factor = std::clamp(target / nodes_us, 1 / kMostChange, kMostChange);
    for (const uint32_t v : stage.nodes) logs[v] += std::log(factor), ++seen[v];
  }
  for (size_t v = 0; v < logs.size(); ++v) logs[v] = seen[v] > 0 ? std::exp(logs[v] / seen[v]) : 1;
  return logs;
}

// So that all run times together stay what they were.
void keep_sum(const std::vector<double>& cost_us, std::vector<double>& factor) {
  double before = 0, after = 0;
  for (size_t v = 0; v < factor.size(); ++v) {
    before += std::max(0.0, cost_us[v]);
    after += std::max(0.0, cost_us[v]) * factor[v];
  }
  if (after <= 0) return;
  for (double& f : factor) f *= before / after;
}

}  // namespace

Feedback learn(std::span<const std::vector<double>> cost_us,
               std::span<const StageObservation> stages) {
  Feedback feedback;
  for (uint32_t kind = 0; kind < cost_us.size(); ++kind) {
    const double excess_us = mean_excess(cost_us[kind], kind, stages);
    feedback.stage_excess_us.push_back(excess_us);
    feedback.factor.push_back(mean_factors(cost_us[kind], kind, stages, excess_us));
    keep_sum(cost_us[kind], feedback.factor.back());
  }
  return feedback;
}

std::vector<std::vector<double>> fit(std::vector<std::vector<double>> cost_us,
                                     std::span<const StageObservation> stages) {
  for (const StageObservation& stage : stages) {
    std::vector<double>& cost = cost_us[stage.kind];
    const double before = sum_of(cost, stage.nodes);
    const double after = std::max(0.0, stage.measured_us - stage.prices_us);
    for (const uint32_t v : stage.nodes) {
      cost[v] = before > 0 ? std::max(0.0, cost[v]) * (after / before)
                           : after / static_cast<double>(stage.nodes.size());
    }
  }
  return cost_us;
}

std::vector<std::vector<double>> costs_of(const GraphSpec& graph) {
  std::vector<std::vector<double>> costs(graph.kinds.size());
  for (size_t k = 0; k < costs.size(); ++k) {
    for (const NodeSpec& node : graph.nodes) costs[k].push_back(node.cost_us[k]);
  }
  return costs;
}

void set_costs(GraphSpec& graph, std::span<const std::vector<double>> cost_us) {
  for (size_t k = 0; k < cost_us.size(); ++k) {
    for (size_t v = 0; v < cost_us[k].size(); ++v) graph.nodes[v].cost_us[k] = cost_us[k][v];
  }
}

}  // namespace placeto
