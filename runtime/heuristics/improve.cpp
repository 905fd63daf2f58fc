// Moves of groups find what passes cannot (a region that belongs elsewhere), and passes settle in
// one stroke what would take hundreds of moves (which node goes where around it). A long search is
// cut into rounds, which start hot again; one that has hardly begun to cool is not. Measured
// without a policy on random graphs, mean ratio of one round to four:
//   evaluations    40 to 160 nodes    800 to 1,600 nodes
//        300            1.004               1.002
//      3,000            0.999               0.991
//     15,000              -                 0.976
//     20,000            1.005                 -
// Guided by a policy, moves settle everything themselves, and rounds only cost.
#include "runtime/heuristics/improve.h"

#include <algorithm>

#include "runtime/heuristics/passes.h"

namespace placeto {
namespace {

constexpr uint64_t kMostRounds = 4, kEvaluationsPerNode = 50;  // the latter of a round at least
constexpr uint64_t kPasses = 6, kEvaluationsPerPass = 5;       // of a round: a fifth of it at most
constexpr double kSearchShare = 0.9;  // of the time; the rest is for passes

}  // namespace

void improve(const Problem& problem, const Hierarchy& hierarchy, const Budget& budget,
             uint64_t seed, MoveEvaluator& evaluator, Candidate& best, ProposalRanker* ranker) {
  if (ranker != nullptr) {
    multilevel_search(problem, hierarchy, budget, seed, evaluator, best, ranker);
    return;
  }
  Stop limit = budget.stop != nullptr ? budget.stop->sooner(budget.milliseconds)
                                      : Stop(nullptr, budget.milliseconds);
  const uint64_t rounds = std::clamp(
      budget.evaluations / (kEvaluationsPerNode * problem.node_count()), uint64_t{1}, kMostRounds);
  for (uint64_t round = 0; round < rounds && !limit.requested(); ++round) {
    Budget part = budget;
    part.milliseconds = kSearchShare * budget.milliseconds / static_cast<double>(rounds);
    uint64_t passes = kPasses;
    if (budget.evaluations > 0) {
      part.evaluations = budget.evaluations / rounds + (round < budget.evaluations % rounds);
      passes = std::min(passes, part.evaluations / kEvaluationsPerPass);
      part.evaluations -= passes;
    }
    multilevel_search(problem, hierarchy, part, seed + round, evaluator, best, ranker);
    if (passes == 0 || limit.requested()) continue;
    Passes settle(problem, seed + round, &limit);
    settle.begin(best.method, best.assignment);
    for (; passes > 0; --passes) settle.run(best.method);
    const Candidate& settled = settle.best();
    if (!settled.assignment.empty() && settled.score < best.score) best = settled;
  }
  // `limit` may have seen the end first.
  if (budget.stop != nullptr) budget.stop->requested();
}

}  // namespace placeto
