// Outcome: what one way of placing reached on one problem, and at what cost.
//
// Passes and searches are measured by themselves, without what place_auto does around them. Under
// staged execution that would say nothing, for place_auto divides into stages at its end, and
// little of a policy that leaps, for it polishes after that: there each of these ways is the whole
// of place_auto, with a policy, a budget, or both.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace placeto::train {

enum class Approach : uint8_t {
  kAuto,              // what place_auto finds without a policy and a budget
  kHeuristic,         // one alone
  kBaseline,          // expert, random, scotch, metis, anneal
  kSampled,           // a placer trained on that graph alone: rnn, hierarchical, trained
  kPolicy,            // the passes of a policy from `auto`
  kSearch,            // adaptive search from `auto`
  kPolicyThenSearch,  // that search from where the passes end
  kTimedSearch,       // place_auto without a policy, as long as `length` milliseconds
  kLongSearch,        // for the best known placement
};

// A way of placing.
struct Way {
  Approach approach = Approach::kAuto;
  std::string method = {};  // of heuristics, baselines and sampling placers: its name
  uint64_t length = 0;      // evaluations, placements sampled, number of a long search
  std::string policy = {};  // name of the policy, where several are compared

  bool uses_policy() const {
    return approach == Approach::kPolicy || approach == Approach::kPolicyThenSearch;
  }
  // The same of any length.
  Way of_any_length() const { return {approach, method, 0, policy}; }
  bool comes_in_lengths() const {
    return length > 0 && approach != Approach::kLongSearch && approach != Approach::kTimedSearch;
  }
  // For people: "heft", "search 300", "policy + search 300".
  std::string label() const;
  friend auto operator<=>(const Way&, const Way&) = default;
};

struct Outcome {
  Way way;
  double makespan_us = 0;   // of the operators; infinity: does not fit memory
  double milliseconds = 0;  // processor time, with what it starts from
  // Placements or moves that were simulated; constructive heuristics: 0; nothing: nobody counted.
  std::optional<uint64_t> evaluations = 0;
  uint64_t until_best = 0;  // of sampling placers: placements until the best was sampled
};

}  // namespace placeto::train
