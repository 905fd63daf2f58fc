// Episodes: passes of a `placeto` policy over a graph, as the trainer records them.
//
// Addanki et al., section 3.1: a state is the graph with its placement, a step re-places one node
// (and what is colocated with it), an episode is a pass over all nodes, and the reward of a step is
// the decrease of the simulated makespan that it causes. Costs here are makespans in units of a
// reference of the graph (Course::reference_us), so rewards of different graphs compare; memory
// beyond the limits costs extra, in proportion.
#pragma once

#include <cstdint>
#include <vector>

#include "runtime/policy/file/policy.h"
#include "trainer/data/course.h"

namespace placeto::train {

struct Episode {
  uint32_t devices = 0, nodes = 0;
  std::vector<uint32_t> node, choice;  // per step
  std::vector<float> features;         // [steps, nodes, step_columns(devices)], unnormalised
  std::vector<uint8_t> mask;           // [steps, devices]
  std::vector<float> logits;           // [steps, devices], the runtime's
  std::vector<float> log_probability;  // per step, of the choice
  std::vector<double> cost;            // steps + 1: before each step, and at the end
  // [steps, devices]: decrease of cost if the step chose that device; 0 where the mask forbids it.
  // Only if asked for.
  std::vector<float> gains;
  double best_cost = 0;  // lowest met
  Assignment best;       // the placement that has it

  uint32_t steps() const { return static_cast<uint32_t>(node.size()); }
  // What the cost decreases by from each step to the end, a step later counting `discount` as much.
  std::vector<float> returns(double discount = 1) const;
};

struct EpisodeOptions {
  Start start = Start::kHeuristic;
  uint32_t passes = 1;
  bool sample = true;  // else greedy
  uint64_t seed = 1;   // of a random start and of the choices
  uint64_t start_seed = 1;
  double memory_penalty = 2;  // cost of exceeding limits by as much as all limits together allow
  bool gains = false;
};
// The policy is of the architecture `placeto` for as many devices as the problem has.
Episode run_episode(const Course& course, const Policy& policy, const EpisodeOptions& options);

}  // namespace placeto::train
