// What placers that are trained on one graph have in common: they sample placements of it, learn
// from what these take, and the best of them counts. The paper's table says how good that is, and
// how many placements it took (Addanki et al., table 1).
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "runtime/cost/evaluator.h"
#include "trainer/data/problems.h"

namespace placeto::train {

struct Sampled {
  // The best that fits memory, by the instance's nodes; empty if none did.
  Assignment assignment;
  double makespan_us = std::numeric_limits<double>::infinity();  // on the ungrouped graph
  struct Point {
    uint64_t placements = 0;                                   // sampled so far
    double best_us = std::numeric_limits<double>::infinity();  // least of them that fit memory
    double mean_reward = 0;                                    // of those since the point before
  };
  std::vector<Point> curve;

  // The point at which the best of the first so many placements is there; as before the first where
  // none of them fitted, or the curve tells of none.
  Point best_within(uint64_t placements) const;
};

// How Mirhoseini's placers sample and learn.
struct SamplingOptions {
  uint32_t placements = 1'000;  // sampled in all
  uint32_t batch = 10;          // placements of one gradient
  uint32_t hidden = 64;         // units of every layer
  double learning_rate = 3e-3;
  double baseline_decay = 0.9;
  double most_gradient = 1;
  uint64_t seed = 1;
};

// Rewards of placements by REINFORCE as placers of whole graphs use it (Mirhoseini et al., ICML
// 2017, section 3.1): the negated square root of the run time, less its moving average.
class SampleJudge {
 public:
  // `decay`: of the average. The instance must outlive it.
  SampleJudge(const Instance& instance, double decay);

  // The advantage of each of a batch of placements of the instance's nodes.
  std::vector<float> advantages(std::span<const Assignment> batch);

  const Sampled& sampled() const { return sampled_; }

 private:
  float reward(const Assignment& assignment);

  const Instance& instance_;
  Evaluator evaluator_;
  double decay_, unit_us_ = 0;  // all work after another: the unit of run times
  double baseline_ = 0;
  bool begun_ = false;
  uint64_t count_ = 0;
  Sampled sampled_;
};

}  // namespace placeto::train
