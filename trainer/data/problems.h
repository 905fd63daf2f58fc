// Problems to train and test on, drawn by seed: families of graphs x topologies x memory.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "runtime/base/random.h"
#include "runtime/cost/problem.h"
#include "trainer/base/config.h"

namespace placeto::train {

struct Merged;

// A problem with all it refers to.
struct Instance {
  std::string family;  // workload, with " training" for a training step
  double ccr = 0;      // communication-to-computation ratio asked for; 0 for named networks
  std::unique_ptr<Graph> graph;
  std::unique_ptr<Topology> topology;
  std::unique_ptr<Problem> problem;
  std::shared_ptr<const Merged> merged;  // where nodes stand for groups of operators: what they are
};

struct Merged {
  Instance operators;
  std::vector<uint32_t> group_of;  // per operator: the node that stands for it
};

// Fails if graph or topology is not valid, or they do not fit each other.
Result<Instance> make_instance(std::string family, GraphSpec graph, TopologySpec topology);

// Each split draws from a stream of its own: no problem of one is in another. The test split does
// not depend on the training seed, so different runs are compared on the same problems.
enum class Split : uint8_t { kTrain, kValidation, kTest };
uint64_t problem_seed(Split split, uint64_t seed, uint64_t index);

// Never fails: a draw that gives no feasible problem is drawn again from the same stream.
Instance draw_problem(const DataConfig& config, uint64_t seed);

// The first problem on `config.devices` devices among numbers first, first + step, ... of a split.
Instance draw_with_devices(const DataConfig& config, Split split, uint64_t seed, uint64_t first,
                           uint64_t step);

}  // namespace placeto::train
