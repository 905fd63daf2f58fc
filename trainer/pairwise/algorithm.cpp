#include "trainer/pairwise/algorithm.h"

#include <cmath>
#include <limits>

#include "runtime/placer/placer.h"
#include "runtime/policy/pairwise/features.h"
#include "runtime/policy/pairwise/pass.h"
#include "runtime/search/search.h"
#include "trainer/base/parallel.h"
#include "trainer/base/time_ratio.h"
#include "trainer/nn/begin_with_file.h"

namespace placeto::train {
namespace {

constexpr uint64_t kCheckedEvaluations = 300;  // of the search after the passes

// Logarithms of makespan over that of `auto` without a policy; not a number if nothing fits.
struct Checked {
  double greedy = std::numeric_limits<double>::quiet_NaN(), searched = greedy;
};

// Passes and a search by themselves, as `eval` measures them (eval/evaluate.cpp).
Checked check_by_parts(const Problem& problem, const Policy& policy, const Candidate& start) {
  const Hierarchy hierarchy(problem);
  MoveEvaluator evaluator(problem);
  PairwisePlacer placer(policy, problem, hierarchy);
  PairwisePassOptions options;
  options.passes = passes_that_pay(problem.node_count());
  const Candidate greedy = placer.place(start, options, evaluator);
  Candidate searched = greedy.score < start.score ? greedy : start;
  Budget budget;
  budget.evaluations = kCheckedEvaluations;
  adaptive_search(hierarchy, budget, 1, evaluator, searched);
  const auto over = [&](const Candidate& c) {
    return log_ratio(c.score.objective_us, start.score.objective_us);
  };
  return {over(greedy), over(searched)};
}

// Under staged execution all of `place`, which divides into stages at its end.
Checked check_whole(const Problem& problem, const Policy& policy, const Candidate& start) {
  const auto placed_with = [&](uint64_t evaluations) {
    MethodOptions options;
    options.budget.evaluations = evaluations;
    const Result<PlaceResult> placed = place_auto(problem, options, {.policy = &policy});
    if (!placed.ok()) return std::numeric_limits<double>::quiet_NaN();
    return log_ratio(placed->best.score.objective_us, start.score.objective_us);
  };
  return {placed_with(0), placed_with(kCheckedEvaluations)};
}

Checked check_one(const Problem& problem, const Policy& policy) {
  const Result<PlaceResult> found = place_auto(problem, {});
  if (!found.ok()) return {};
  return problem.is_staged() ? check_whole(problem, policy, found->best)
                             : check_by_parts(problem, policy, found->best);
}

}  // namespace

PairwiseAlgorithm::PairwiseAlgorithm(const Config& config)
    : config_(config), learn_(config.learn), learner_(config.learn, config.seed) {}

Status PairwiseAlgorithm::begin(Run&, bool resumed) {
  if (resumed || !begins_with_a_policy()) return {};
  return begin_with_file(config_, learner_);
}

Check PairwiseAlgorithm::check(const Run& run, std::shared_ptr<const Policy> policy) const {
  std::vector<Checked> found(run.problems.held_out_count());
  parallel_for(static_cast<uint32_t>(found.size()), config_.threads, [&](uint32_t i) {
    found[i] = check_one(*run.problems.held_out(i).problem, *policy);
  });
  double greedy = 0, searched = 0, n = 0;
  for (const Checked& one : found) {
    if (std::isnan(one.greedy)) continue;
    greedy += one.greedy;
    searched += one.searched;
    n += 1;
  }
  return {greedy / n + searched / n, {greedy / n, searched / n}};
}

}  // namespace placeto::train
