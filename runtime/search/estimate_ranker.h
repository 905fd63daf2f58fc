// Which of several moves shortens the run most, as far as can be told without a simulation.
#pragma once

#include <algorithm>

#include "runtime/groups/hierarchy.h"
#include "runtime/search/current_run.h"
#include "runtime/search/proposal_ranker.h"
#include "runtime/timeline/move_estimate.h"

namespace placeto {

// Not shareable between threads.
class EstimateRanker final : public ProposalRanker {
 public:
  // Both must outlive it.
  EstimateRanker(const Hierarchy& hierarchy, CurrentRun& run)
      : hierarchy_(hierarchy), run_(run), estimate_(run.evaluator().problem()) {}

  // Ranking pays where evaluating takes long, and the more the fewer of all moves are good.
  uint32_t proposals() const override {
    constexpr uint32_t kFewDevices = 8, kNodesPerProposal = 100, kAmongMany = 25, kMost = 8;
    const Problem& problem = run_.evaluator().problem();
    const bool few = problem.device_count() <= kFewDevices;
    return std::clamp(problem.node_count() / (few ? kNodesPerProposal : kAmongMany), 1u, kMost);
  }
  void refresh(const MoveEvaluator&) override {}
  // Where times do not tell, nothing is more promising than anything else.
  float score(uint32_t level, uint32_t group, uint32_t device, float least) override {
    if (!run_.evaluator().times_can_tell()) return 0;
    const Queues& queues = run_.queues();
    Stop* const stop = run_.evaluator().stop();
    if (stopped(stop)) return 0;
    const auto nodes = hierarchy_.nodes(level, group);
    return static_cast<float>(-estimate_.change_us(queues, nodes, device, -least, stop));
  }

 private:
  const Hierarchy& hierarchy_;
  CurrentRun& run_;
  MoveEstimate estimate_;
};

}  // namespace placeto
