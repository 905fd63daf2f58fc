// MemoryPlan: keeps a constructive heuristic within memory while it does not know the timeline yet.
//
// A group's footprint is its resident bytes plus a share of its outputs; the share, and a reserve
// per device, are learned from how much the previous attempt held at its peak.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "runtime/cost/evaluator.h"
#include "runtime/heuristics/method.h"

namespace placeto {

class MemoryPlan {
 public:
  explicit MemoryPlan(const Problem& problem);

  // Forgets what was taken, not what was learned.
  void clear() { std::fill(taken_.begin(), taken_.end(), 0.0); }
  bool limited() const { return limited_; }
  bool fits(uint32_t group, uint32_t device) const {
    return !limited_ || has_room(footprint(group), device);
  }
  bool has_room(double bytes, uint32_t device) const {
    return !limited_ || taken_[device] + bytes <= budget_[device];
  }
  void take(uint32_t group, uint32_t device) {
    if (limited_) taken_[device] += footprint(group);
  }
  void leave(uint32_t group, uint32_t device) {
    if (limited_) taken_[device] -= footprint(group);
  }
  // Bytes left on the device by plan; negative when it is over.
  double room(uint32_t device) const { return budget_[device] - taken_[device]; }
  // Only where memory is limited.
  double footprint(uint32_t group) const {
    return static_cast<double>(problem_->resident_bytes(group)) + share_ * output_bytes_[group];
  }

  // Tightens the plan after a placement whose peaks exceeded the limits.
  void learn(std::span<const uint32_t> assignment, std::span<const uint64_t> peak);

 private:
  const Problem* problem_;
  bool limited_;
  double share_ = 0;  // of the output bytes that counts as held
  std::vector<double> output_bytes_, budget_, taken_;
};

// Builds with `build` until the placement fits, attempts run out or it returns none, tightening the
// plan in between. Returns the best candidate seen, named `name`; the evaluator's last timeline is
// its. Once the evaluator's `stop` says so, what `build` returns is not looked at: the assignment
// is empty if nothing was evaluated before.
Candidate place_within_memory(const Problem& problem, Evaluator& evaluator, std::string name,
                              const std::function<Assignment(MemoryPlan&)>& build);

}  // namespace placeto
