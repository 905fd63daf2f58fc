// PublishedPlacer: placing with a `placeto` policy, as published (Addanki et al., NeurIPS 2019,
// section 3; DESIGN, sections 6 and 7).
//
// A pass visits the nodes in topological order. A step re-places one node, and with it all that it
// is colocated with: a group is decided when its first node is met. After each step that moves
// something the timeline is simulated again, and the next step sees it.
#pragma once

#include <functional>
#include <optional>

#include "runtime/base/random.h"
#include "runtime/cost/move_evaluator.h"
#include "runtime/heuristics/method.h"
#include "runtime/policy/published/scorer.h"

namespace placeto {

// One decision and what came of it, as the trainer sees it. Spans are valid during the call.
struct PublishedStep {
  uint32_t pass, node;
  std::span<const float> features;  // nodes x step_columns(devices), unnormalised, before the step
  std::span<const uint8_t> mask;    // per device: 1 if it may be chosen
  std::span<const float> logits;    // per device, of masked ones too
  uint32_t choice;                  // device
  float log_probability;            // of the choice among those of the mask; 0 when greedy
  Score before, after;              // of the whole placement
};

struct PublishedPassOptions {
  uint32_t passes = 1;
  // Sampling mode: devices are drawn from softmax(logits / temperature) over the mask. Absent: arg
  // max, ties to the lower device.
  std::optional<float> temperature = {};
  uint64_t seed = 1;
  std::function<void(const PublishedStep&)> on_step = {};
};

class PublishedPlacer {
 public:
  // Whether the policy can place the graph. Fails with kInvalidArgument if it is of another
  // architecture or for another number of devices, and with kOutOfMemory if its rows for this graph
  // take more than `most_bytes`.
  static constexpr size_t kMostBytes = 1'000'000'000;
  static Status check(const Policy& policy, const Problem& problem, size_t most_bytes = kMostBytes);

  // Policy and problem have passed the check and must outlive the placer. Stopped while it is made,
  // it places nothing: the `stop` has to be the evaluator's.
  PublishedPlacer(const Policy& policy, const Problem& problem,
                  KernelChoice kernels = KernelChoice::kPortable, Stop* stop = nullptr);

  // Passes from `start`, which obeys the rules; the best placement met, never worse than `start`.
  // The evaluator's `stop` ends them.
  // A device is masked if the rules forbid it for the group, if the group's resident bytes do not
  // fit beside those of the others, or if the simulated peak turns out to lie further above the
  // limits than before. The device that the group is on is never masked.
  Candidate place(const Candidate& start, const PublishedPassOptions& options,
                  MoveEvaluator& evaluator);

 private:
  void begin_pass(const MoveEvaluator& evaluator);
  void step(uint32_t pass, uint32_t node, const PublishedPassOptions& options,
            MoveEvaluator& evaluator);
  void mask_devices(uint32_t group, uint32_t current);
  void mask_overflows(uint32_t group, uint32_t current, MoveEvaluator& evaluator);
  void set_preferences(std::span<const float> logits, const PublishedPassOptions& options);
  uint32_t preferred() const;
  bool fits(uint32_t group, uint32_t device, MoveEvaluator& evaluator);
  bool try_move(uint32_t group, uint32_t device, MoveEvaluator& evaluator);

  const Problem* problem_;
  PublishedFeatures features_;
  PublishedScorer scorer_;
  Random random_{1};
  std::vector<uint8_t> decided_;    // per group, in this pass
  std::vector<uint64_t> held_;      // resident bytes per device
  std::vector<uint8_t> mask_;       // per device
  std::vector<double> preference_;  // per device
  std::vector<Change> changes_;
};

}  // namespace placeto
