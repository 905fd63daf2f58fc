// PolicyGuide: a policy at work on one problem. What the placer, the C interface and the trainer's
// evaluation know of a policy; which architecture it is of decides guide.cpp, once.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string_view>

#include "runtime/cost/move_evaluator.h"
#include "runtime/heuristics/workbench.h"
#include "runtime/policy/file/policy.h"

namespace placeto {

// One decision of a policy's passes. Spans are valid during the call.
struct PolicyStep {
  static constexpr uint32_t kStays = 0xffffffffu;

  std::span<const uint32_t> nodes;    // what is placed: nodes that move together
  std::span<const uint32_t> devices;  // those scored, ascending
  std::span<const uint8_t> mask;      // of each: 1 if it may be chosen
  std::span<const float> scores;      // of each
  std::span<const float> features;    // rows, as the policy saw them, before its normalisation
  uint32_t feature_rows = 0;
  uint32_t choice = kStays;   // a device
  float log_probability = 0;  // of the choice; 0 when greedy
};

struct PolicyPasses {
  uint32_t passes = 0;                // 0: as many as pay
  std::optional<uint64_t> seed = {};  // choices are drawn by chance; absent: the best scored
  std::function<void(const PolicyStep&)> on_step = {};
};

class PolicyGuide {
 public:
  virtual ~PolicyGuide() = default;

  // Passes from `start`, which obeys the rules: the best placement met, never worse than `start`.
  // The evaluator's `stop` ends them.
  virtual Candidate place(const Candidate& start, const PolicyPasses& passes,
                          MoveEvaluator& evaluator) = 0;

  // Everything at once to where the policy expects a good placement to have it, whatever it costs;
  // to be polished. Absent if the policy makes no leaps. The evaluator's `stop` leaves `start`.
  virtual std::optional<Candidate> leap(const Candidate&, MoveEvaluator&) { return std::nullopt; }
};

// Fails with kInvalidArgument, or kOutOfMemory, if the policy cannot place the problem. The policy
// and what the bench has must outlive the guide. Stopped while it is made, it places nothing.
Result<std::unique_ptr<PolicyGuide>> make_policy_guide(const Policy& policy, Workbench& bench,
                                                       KernelChoice kernels);

// The names of all architectures' features, as policy files are checked against them.
KnownFeatures known_features();

// Name of a column of PolicyStep::features; empty beyond the last. Ends with a NUL.
std::string_view feature_name(const Policy& policy, uint32_t column);

}  // namespace placeto
