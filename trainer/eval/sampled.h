// What placers that are trained on one graph have in common: they sample placements of it, learn
// from what these take, and the best of them counts. The paper's table says how good that is, and
// how many placements it took (Addanki et al., table 1).
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include "runtime/cost/evaluator.h"
#include "trainer/data/problems.h"

namespace placeto::train {

struct Sampled {
  // Of the instance's nodes: the best that fits memory; empty if none did.
  Assignment assignment;
  double makespan_us = std::numeric_limits<double>::infinity();  // on the ungrouped graph
  // Placements sampled so far and the best makespan among them, again and again.
  std::vector<std::pair<uint64_t, double>> curve;

  // Placements until the best was sampled, as far as the curve tells; 0 if none fitted.
  uint64_t until_best() const;
};

// Rewards of placements by REINFORCE as placers of whole graphs use it (Mirhoseini et al., ICML
// 2017, section 3.1): the negated square root of the run time, less its moving average.
class SampleJudge {
 public:
  // `decay`: of the average. The instance must outlive it.
  SampleJudge(const Instance& instance, double decay);

  // Of a batch of placements of the instance's nodes: the advantage of each.
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
