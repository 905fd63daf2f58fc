#include "runtime/cost/bounds.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace placeto {
namespace {

double longest_path_us(const Problem& problem, const std::vector<double>& fastest_us, Stop* stop) {
  const Graph& graph = problem.graph();
  std::vector<double> finish(graph.node_count());
  double longest = 0;
  for (uint32_t v : graph.topological_order()) {
    double ready = 0;
    for (const InEdge& in : watched(graph.in_edges(v), stop)) {
      ready = std::max(ready, finish[in.source]);
    }
    finish[v] = ready + fastest_us[v];
    longest = std::max(longest, finish[v]);
    if (spend(stop, 1 + graph.in_edges(v).size())) return 0;
  }
  return longest;
}

// What a sum of so many numbers is at least, whatever the order in which they are added: rounding
// moves it by at most half a unit in the last place for each. Simulations add in another order.
double surely(double sum, uint32_t count) {
  return sum * (1 - (count + 4.0) * std::numeric_limits<double>::epsilon());
}

// Time a node keeps a device of class c.
double occupancy_us(const Problem& problem, uint32_t v, uint32_t c) {
  const double run = problem.run_row(v)[c];
  return run + problem.gap_after_us(run);
}

// Linear-programming bound. If x[v][c] is the share of node v on class c, a schedule of length T
// satisfies sum_v x[v][c] * occupancy[v][c] <= size[c] * (T + gap) for every class. For any weights
// w >= 0 with sum_c w[c] * size[c] = 1 that gives T >= sum_v min_c w[c] * occupancy[v][c] - gap;
// with w proportional to speed this is "work over aggregate speed". Multiplicative updates then
// raise the weight of classes that the minimum overloads.
double spread_work_us(const Problem& problem, Stop* stop) {
  const uint32_t classes = problem.class_count(), n = problem.node_count();
  std::vector<double> size(classes, 0), weight(classes), load(classes);
  for (uint32_t d = 0; d < problem.device_count(); ++d) ++size[problem.class_of(d)];
  std::vector<double> fast(classes, 0), slow(classes, 0);  // over the nodes the class can run
  for (uint32_t v = 0; v < n; ++v) {
    const double* row = problem.run_row(v);
    const double fastest = problem.fastest_us(v);
    for (uint32_t c = 0; c < classes; ++c) {
      if (row[c] == kNever) continue;
      fast[c] += fastest;
      slow[c] += row[c];
    }
    if (spend(stop, classes)) return 0;
  }
  for (uint32_t c = 0; c < classes; ++c) {
    weight[c] = fast[c] > 0 && slow[c] > 0 ? fast[c] / slow[c] : 1;
  }
  double best = 0;
  constexpr int kRounds = 24;
  for (int round = 0; round < kRounds; ++round) {
    double norm = 0;
    for (uint32_t c = 0; c < classes; ++c) norm += weight[c] * size[c];
    for (double& w : weight) w /= norm;
    std::fill(load.begin(), load.end(), 0);
    double sum = 0;
    for (uint32_t v = 0; v < n; ++v) {
      uint32_t cheapest = 0;
      double least = kNever;
      for (uint32_t c = 0; c < classes; ++c) {
        const double weighted = weight[c] * occupancy_us(problem, v, c);
        if (weighted < least) least = weighted, cheapest = c;
      }
      sum += least;
      load[cheapest] += occupancy_us(problem, v, cheapest);
      if (spend(stop, classes)) return best;
    }
    best = std::max(best, surely(sum, n + classes) - problem.op_gap_us());
    if (classes == 1) break;
    // The multiplier shrinks so that the weights settle.
    const double step = 1.0 / (2 + round);
    for (uint32_t c = 0; c < classes; ++c) {
      const double relative = load[c] / size[c] / std::max(sum, 1e-300);
      weight[c] *= 1 + step * (std::min(relative, 2.0) - 1);
      weight[c] = std::max(weight[c], 1e-12);
    }
  }
  return best;
}

}  // namespace

LowerBounds lower_bounds(const Problem& problem, Stop* stop) {
  const uint32_t n = problem.node_count(), classes = problem.class_count();
  std::vector<double> fastest(n);
  for (uint32_t v = 0; v < n; ++v) {
    fastest[v] = problem.fastest_us(v);
    if (spend(stop, classes)) return {};
  }
  const TopologySpec& topology = problem.topology().spec();
  LowerBounds bounds;
  bounds.critical_path_us = longest_path_us(problem, fastest, stop);
  if (topology.execution == Execution::kSerial) {
    bounds.work_us = surely(std::accumulate(fastest.begin(), fastest.end(), 0.0), n);
  } else {
    bounds.work_us = spread_work_us(problem, stop);
    if (problem.is_staged()) {  // there is at least one stage
      double least = topology.devices[0].stage_us;
      for (const DeviceSpec& device : topology.devices) least = std::min(least, device.stage_us);
      bounds.critical_path_us = surely(bounds.critical_path_us + least, n);
    }
  }
  return bounds;
}

}  // namespace placeto
