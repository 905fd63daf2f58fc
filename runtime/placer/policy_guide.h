// PolicyGuide: whatever placer the policy's architecture needs, built once per placing.
#pragma once

#include <memory>
#include <optional>

#include "runtime/heuristics/workbench.h"
#include "runtime/placer/placer.h"
#include "runtime/policy/pairwise/policy_pass.h"
#include "runtime/policy/published/placeto_pass.h"

namespace placeto {

class PolicyGuide {
 public:
  // options.policy is there.
  static Result<PolicyGuide> build(Workbench& bench, const PlacerOptions& options);

  // From the best candidate: the best of the greedy placement and the drawn ones that the bench's
  // options ask for.
  Candidate place(Workbench& bench);
  // nullptr: the architecture cannot rank moves of groups.
  ProposalRanker* ranker() { return pairwise_.get(); }

 private:
  Candidate place_once(const Candidate& start, uint32_t sample, std::optional<uint64_t> seed,
                       MoveEvaluator& evaluator);

  PolicyObserver* observer_ = nullptr;
  std::unique_ptr<PolicyPlacer> pairwise_;
  std::unique_ptr<PlacetoPlacer> placeto_;
};

}  // namespace placeto
