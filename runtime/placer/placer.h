// place(): the best feasible placement among many ways to find one.
#pragma once

#include <string>
#include <vector>

#include "runtime/cost/bounds.h"
#include "runtime/heuristics/method.h"
#include "runtime/policy/file/policy.h"
#include "runtime/policy/net/kernels.h"

namespace placeto {

struct PolicyStep;   // policy_pass.h
struct PlacetoStep;  // placeto_pass.h

// Sees every step of a policy's passes. `sample`: 0 while it places greedily, then the number of
// the drawn placement, from 1.
class PolicyObserver {
 public:
  virtual void see(uint32_t sample, const PolicyStep& step) = 0;
  virtual void see(uint32_t sample, const PlacetoStep& step) = 0;

 protected:
  ~PolicyObserver() = default;
};

struct PolicyUse {
  // Other than kPortable, placements may differ from machine to machine (kernels.h).
  KernelChoice kernels = KernelChoice::kPortable;
  PolicyObserver* observer = nullptr;
};

struct PlaceResult {
  Candidate best;
  std::vector<Candidate> candidates;  // everything tried, in the order tried
  LowerBounds bounds;
  Timeline timeline;     // of the best
  double place_us = 0;   // wall time the placing took
  std::string note;      // why a policy that was given was not used; empty otherwise
  bool stopped = false;  // budget.stop ended it: not everything was tried, or the bounds are 0
  // False if there was no time left to simulate the best once more: then the timeline has its
  // makespan (or bottleneck, if that is the objective) and nothing else, and the bounds are 0.
  bool simulated = true;
};

// `auto`: the best feasible of single (each device), contiguous, heft, etf and iterate; a policy's
// greedy passes then start from the best of them; with a budget, local search follows, its
// proposals ranked by the policy if there is one. So the answer is never worse than any
// heuristic's. Candidates are compared by the cost model; ties go to the one tried first. A policy
// that does not fit the topology is left out, and `note` says why. Where memory is so tight that
// nothing fits, a search for less overflow follows. Fails with kInfeasible if nothing fits; the
// message, and `shortfall_bytes` if given, say by how many bytes per device the closest placement
// exceeds the limits.
//
// Once options.budget.stop says so, the best of what was evaluated by then is the answer, or
// kStopped if nothing that fits was: single devices are evaluated first. Of a large graph the
// answer then comes without its timeline.
Result<PlaceResult> place_auto(const Problem& problem, const MethodOptions& options,
                               const Policy* policy = nullptr,
                               std::vector<uint64_t>* shortfall_bytes = nullptr,
                               const PolicyUse& use = {});

// The policy's passes alone, from the best heuristic placement: `best` is what they end in. Fails
// with kInvalidArgument if the policy does not fit the topology.
Result<PlaceResult> place_policy(const Problem& problem, const MethodOptions& options,
                                 const Policy& policy,
                                 std::vector<uint64_t>* shortfall_bytes = nullptr,
                                 const PolicyUse& use = {});

// One method alone, under the same contract.
Result<PlaceResult> place_with(const Problem& problem, const Method& method,
                               const MethodOptions& options,
                               std::vector<uint64_t>* shortfall_bytes = nullptr);

}  // namespace placeto
