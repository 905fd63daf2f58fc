// Passes: greedy placement with a `pairwise` policy (DESIGN, sections 6 and 7).
//
// A pass goes through the hierarchy coarse to fine, on large graphs through its finest levels
// alone, and visits every group of a level once that the makespan waits for: in upward-rank order
// in the first pass, later in the order in which the previous timeline starts them. Where links are
// unlike, later passes visit all groups: others are in the way there. A step gives the group to the
// device with the highest score, or leaves it if none is worth a try. Decisions of one level are
// checked against the cost model in a few batches, and a batch that does not help is taken back:
// scores are made for one move at a time, and moves that are good alone can be bad together.
#pragma once

#include <functional>
#include <optional>

#include "runtime/base/random.h"
#include "runtime/groups/hierarchy.h"
#include "runtime/heuristics/method.h"
#include "runtime/policy/pairwise/move_scorer.h"
#include "runtime/policy/pairwise/tuning.h"

namespace placeto {

// One decision, as the trainer sees it. Spans are valid during the call.
struct PairwiseStep {
  uint32_t pass, level, group;
  std::span<const uint32_t> nodes;    // of the group
  std::span<const uint32_t> devices;  // candidates; those that rules forbid are not among them
  std::span<const float> rows;        // devices x kPairFeatures, unnormalised
  std::span<const float> scores;      // one per candidate
  uint32_t choice;                    // index into devices, or devices.size(): the group stays
  float log_probability;              // of the choice; 0 when greedy
};

// How many passes pay, at most.
inline uint32_t passes_that_pay(uint32_t nodes) {
  return nodes < pairwise::kManyPassesBelow ? pairwise::kManyPasses : 1;
}

struct PairwisePassOptions {
  uint32_t passes = passes_that_pay(0);  // at most: they end with one that gains nothing
  // Sampling mode: choices are drawn from softmax(scores / temperature), staying included, and are
  // not checked in batches. Absent: arg max, ties to the lower device.
  std::optional<float> temperature;
  uint64_t seed = 1;
  std::function<void(const PairwiseStep&)> on_step;
};

class PairwisePlacer {
 public:
  // Policy (kPairwise), problem and hierarchy must outlive it.
  PairwisePlacer(const Policy& policy, const Problem& problem, const Hierarchy& hierarchy,
                 KernelChoice kernels = KernelChoice::kPortable, Stop* stop = nullptr);

  // Passes from `start`; the best placement met, which is never worse than `start`. The evaluator's
  // `stop` ends them.
  Candidate place(const Candidate& start, const PairwisePassOptions& options,
                  MoveEvaluator& evaluator);

  // Every group of the finest level at once, unchecked, to where the policy expects a good
  // placement to have it. Usually worse than `start` until it is polished. The policy has a network
  // for it.
  Candidate leap(const Candidate& start, MoveEvaluator& evaluator);

  // What the graph network sees, for a trainer.
  const MoveScorer& scorer() const { return scorer_; }

 private:
  struct Decision {
    uint32_t group, device;
    float score;
  };

  void run_level(uint32_t pass, uint32_t level, const PairwisePassOptions& options,
                 MoveEvaluator& evaluator);
  void order_groups(uint32_t pass, uint32_t level, Stop* stop);
  // Does the makespan wait for a node of the group?
  bool awaited(uint32_t level, uint32_t group) const;
  void step(uint32_t pass, uint32_t level, uint32_t group, const PairwisePassOptions& options,
            Stop* stop);
  uint32_t choose(std::span<const float> scores, const PairwisePassOptions& options,
                  float& log_probability);
  void settle(uint32_t level, bool check, MoveEvaluator& evaluator);
  bool try_decisions(uint32_t level, std::span<const Decision> decisions, bool check,
                     MoveEvaluator& evaluator);

  const Problem* problem_;
  float least_score_;
  const Hierarchy* hierarchy_;
  std::vector<uint32_t> levels_;  // that are scored, coarse to fine
  MoveScorer scorer_;
  MoveFeatures features_;
  PlacementState state_;
  Random random_{1};
  std::vector<uint32_t> order_;
  std::vector<double> key_;
  std::vector<Decision> decisions_;
  std::vector<Change> changes_;
};

}  // namespace placeto
