#include "runtime/search/all_placements.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "runtime/base/keep_least.h"
#include "runtime/cost/staged.h"
#include "runtime/search/stage_search.h"

namespace placeto {
namespace {

// Placements that the rules allow; kMostPlacements + 1 stands for any larger number.
uint64_t count_placements(const Problem& problem) {
  uint64_t count = 1;
  for (uint32_t g = 0; g < problem.group_count() && count <= kMostPlacements; ++g) {
    uint64_t devices = 0;
    for (uint32_t d = 0; d < problem.device_count(); ++d) devices += problem.allowed(g, d);
    count *= devices;
  }
  return std::min(count, kMostPlacements + 1);
}

// All placements that the rules allow, or those before a stop.
template <class Visit>
void each_placement(const Problem& problem, Stop* stop, const Visit& visit) {
  Assignment assignment(problem.node_count());
  const auto put = [&](uint32_t group, uint32_t device) {
    for (const uint32_t v : problem.members(group)) assignment[v] = device;
  };
  for (uint32_t g = 0; g < problem.group_count(); ++g) put(g, problem.next_allowed(g, 0));
  for (uint32_t g = 0; g < problem.group_count();) {
    if (g == 0) {
      visit(assignment);
      if (stopped(stop)) return;
    }
    // Counts up: the first group that has another device takes it, those before begin anew.
    const uint32_t other = problem.next_allowed(g, assignment[problem.members(g)[0]] + 1);
    const bool carries = other == problem.device_count();
    put(g, carries ? problem.next_allowed(g, 0) : other);
    g = carries ? g + 1 : 0;
  }
}

// The best of all placements, divided by the best rule: at most so many, the best first.
std::vector<Candidate> best_placements(size_t most, const std::string& method,
                                       Evaluator& evaluator) {
  std::vector<Candidate> kept;
  each_placement(evaluator.problem(), evaluator.stop(), [&](const Assignment& assignment) {
    const bool cuts = kept.size() == most && kept.back().score.feasible();
    const double cutoff_us = cuts ? kept.back().score.objective_us : kNever;
    const Score score = evaluator.evaluate(assignment, {}, cutoff_us);
    if (!stopped(evaluator.stop())) {
      keep_least(kept, most, Candidate{method, assignment, score}, is_better);
    }
  });
  return kept;
}

}  // namespace

bool all_placements_pay(const Problem& problem) {
  constexpr uint64_t kWork = 1'000'000;
  const Graph& graph = problem.graph();
  return count_placements(problem) <= std::min(kMostPlacements, kWork / graph.size());
}

void find_fewest_stages(double limit_us, Evaluator& evaluator, Candidate& best) {
  uint32_t fewest = count_stages(best, evaluator);
  const double cutoff_us = std::nextafter(limit_us, kNever);
  each_placement(evaluator.problem(), evaluator.stop(), [&](const Assignment& assignment) {
    const Score score = evaluator.evaluate(assignment, {}, cutoff_us);
    if (!score.feasible() || score.objective_us > limit_us) return;
    const uint32_t stages = evaluator.stage_count();
    if (stages > fewest || (stages == fewest && score >= best.score)) return;
    fewest = stages;
    best.take(assignment, score);
  });
}

void try_all_placements(Evaluator& evaluator, Candidate& best) {
  // On very small graphs the best of them are looked at in many divisions each.
  constexpr size_t kMostDivided = 16, kMostNodes = 12;
  constexpr uint64_t kEvaluations = 50;
  const Problem& problem = evaluator.problem();
  const bool divides = problem.node_count() <= kMostNodes;
  const std::vector<Candidate> first =
      best_placements(divides ? kMostDivided : 1, best.method, evaluator);
  if (!first.empty() && first[0].score < best.score) best = first[0];
  if (!divides || stopped(evaluator.stop())) return;
  const StageTables tables(problem, evaluator.stop());
  std::vector<uint32_t> nodes(problem.node_count());
  std::iota(nodes.begin(), nodes.end(), 0u);
  for (const Candidate& placed : first) {
    // From the best rule's stages, and from one for each node.
    for (const Division& division : {Division{}, Division{nodes, placed.assignment, {}}}) {
      Candidate found = placed;
      found.division = division;
      if (!division.empty() && !renumber_stages(tables.graph(), found.division)) continue;
      refine_division(kEvaluations, evaluator, found);
      refine_stages(kEvaluations, evaluator, found);
      if (stopped(evaluator.stop())) return;
      if (gains(found.score, best.score)) best = std::move(found);
    }
  }
}

}  // namespace placeto
