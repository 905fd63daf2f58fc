// place(): the best feasible placement among many ways to find one.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "runtime/cost/bounds.h"
#include "runtime/heuristics/method.h"
#include "runtime/policy/file/policy.h"
#include "runtime/policy/net/kernels.h"

namespace placeto {

struct PolicyStep;  // policy/guide.h

// Sees every step of a policy's passes. `sample`: 0 while it places greedily, then the number of
// the drawn placement, from 1.
class PolicyObserver {
 public:
  virtual void see(uint32_t sample, const PolicyStep& step) = 0;

 protected:
  ~PolicyObserver() = default;
};

// What a placing takes beside the options of its methods.
struct PlacerOptions {
  const Policy* policy = nullptr;  // nullptr: none
  // Other than kPortable, placements may differ from machine to machine (kernels.h), but by
  // policies of exact sums.
  KernelChoice kernels = KernelChoice::kPortable;
  PolicyObserver* observer = nullptr;

  // For placing within a placing.
  PlacerOptions unobserved() const { return {.policy = policy, .kernels = kernels}; }
};

struct PlaceResult {
  Candidate best;
  std::vector<Candidate> candidates;  // everything tried, in the order tried
  size_t won = 0;                     // index of the one among them that is the best
  LowerBounds bounds;
  // No placement is better: all were looked at or ruled out, or the makespan is a lower bound.
  bool proved = false;
  // No group of the problem does better on another device (polish.h); false: not looked.
  bool one_move_optimal = false;
  // There was a budget, and a search was made with it; without, the problem was solved before.
  bool searched = false;
  Timeline timeline;    // of the best
  double place_us = 0;  // wall time the placing took
  // Time per run when every device has a copy of the graph, placed for throughput; 0: a copy does
  // not fit on each.
  double replicas_us = 0;
  // Time per run when the next starts after the last has ended, placed for latency, where that is
  // less than the bottleneck that was found for throughput; 0: it is not, or was not tried.
  double sequential_us = 0;
  std::string note;      // why a policy that was given was not used; empty otherwise
  bool stopped = false;  // options.stop ended it: not everything was tried, or the bounds are 0
  // False if there was no time left to simulate the best once more: then the timeline has its
  // makespan (or bottleneck, if that is the objective) and nothing else, and the bounds are 0.
  bool simulated = true;
};

// What a placing returns.
struct [[nodiscard]] PlaceOutcome : Result<PlaceResult> {
  using Result::Result;
  // With kInfeasible and kNotFound: by how many bytes per device the closest placement exceeds the
  // limits.
  std::vector<uint64_t> shortfall_bytes;
};

// What callers may ask for, of MethodOptions: more would take days.
inline constexpr uint32_t kMostPasses = 100'000, kMostSamples = 100'000;

// `auto`: the best feasible of what its steps find (steps.cpp): the heuristics, and what moves of
// groups make of the best of them; a policy's leaps and passes from there; with a budget, local
// search. So the answer is never worse than any heuristic's, nor, without a budget, a tolerance and
// a stop and but for staged execution, than without the policy. Candidates are compared by the cost
// model; ties go to the one tried first. A policy that does not fit the topology is left out, and
// `note` says why. Fails with kInfeasible if it is proved that nothing fits, with kNotFound if
// nothing that does was found; the message and `shortfall_bytes` say by how much.
//
// Once options.stop says so, the best of what was evaluated by then is the answer, or
// kStopped if nothing that fits was: single devices are evaluated first. Of a large graph the
// answer then comes without its timeline.
PlaceOutcome place_auto(const Problem& problem, const MethodOptions& options,
                        const PlacerOptions& placer = {});

// The policy's leaps and passes, from the best that `auto` finds before them: `best` is what they
// end in. Fails with kInvalidArgument if there is no policy, or if it does not fit the topology.
PlaceOutcome place_policy(const Problem& problem, const MethodOptions& options,
                          const PlacerOptions& placer);

// One method alone, under the same contract.
PlaceOutcome place_with(const Problem& problem, const Method& method, const MethodOptions& options,
                        const PlacerOptions& placer = {});

// Any of these by name: one of placer_names(), or else kInvalidArgument, and the message lists
// them.
PlaceOutcome place(const Problem& problem, std::string_view name, const MethodOptions& options,
                   const PlacerOptions& placer = {});

// "auto", "policy", then the methods of the runtime.
inline constexpr std::string_view kAuto = "auto", kPolicyAlone = "policy";
std::vector<std::string_view> placer_names();

}  // namespace placeto
