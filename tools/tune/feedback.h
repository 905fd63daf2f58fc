// What measured stages teach the cost model.
//
// A stage takes the run times of its nodes and what dividing costs. Both are wrong at first: a
// profile slows some operators more than others, and a price is that of another model. From stages
// that ran, each node's time is corrected by how far its stages were off, and what remains over all
// stages of a kind of device becomes the price of a stage there. The times together keep their sum,
// which a whole run measured: else everything that was ever divided would look dear, and whole
// devices with it.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "runtime/graph/graph.h"

namespace placeto {

// Run times of a graph by kind and node, taken out and put in again.
std::vector<std::vector<double>> costs_of(const GraphSpec& graph);
void set_costs(GraphSpec& graph, std::span<const std::vector<double>> cost_us);

// A stage of a measured run. Times without the device's slowdown.
struct StageObservation {
  uint32_t kind = 0;            // of its device
  std::vector<uint32_t> nodes;  // of the graph
  double prices_us = 0;         // of the stage and its cuts, as the cost model has them
  double measured_us = 0;
};

struct Feedback {
  // Per kind and node: what to multiply the run time with.
  std::vector<std::vector<double>> factor;
  // Per kind: what every stage costs beyond its price, on average; may be negative. 0 where none
  // ran.
  std::vector<double> stage_excess_us;
};

// cost_us[kind][node]: run times as the cost model has them; negative where a kind cannot run a
// node. Factors are limited to [1/2, 2] in one step.
Feedback learn(std::span<const std::vector<double>> cost_us,
               std::span<const StageObservation> stages);

// Run times with which every stage of one run takes what was measured of it: those of its nodes
// share what its prices leave of that, as they did before, and evenly if they took nothing.
std::vector<std::vector<double>> fit(std::vector<std::vector<double>> cost_us,
                                     std::span<const StageObservation> stages);

}  // namespace placeto
