// Measuring a policy: on each problem, what heuristics, searches, baselines and the policy reach.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "runtime/policy/file/policy.h"
#include "trainer/base/time_ratio.h"
#include "trainer/data/problems.h"
#include "trainer/eval/outcome.h"

namespace placeto::train {

struct EvaluateOptions {
  std::vector<uint64_t> budgets = {100, 300, 1'000};  // evaluations of the searches
  // Long searches for the best known placement, in turn multilevel annealing from `auto` and what
  // `search` is, with the policy's passes before it or without; 0: none.
  uint32_t long_searches = 2;
  uint64_t long_evaluations = 20'000;
  bool annealings = false;    // every long search is one
  bool heuristics = true;     // each alone, as rows of their own
  bool baselines = false;     // random, expert, scotch and metis (where built), anneal
  bool unguided = true;       // searches without the policy
  uint32_t passes = 0;        // of the policy; 0: as many as place_auto makes
  bool whole = false;         // policies and searches are all of `place` (outcome.h)
  double search_seconds = 0;  // wall time of one more search without a policy; 0: none
  // How many placements those may sample that are trained on the problem itself; 0: left out.
  uint32_t rnn_placements = 0, hierarchical_placements = 0;
  uint64_t trained_placements = 0;  // by a policy of the published architecture
  uint64_t sampling_seed = 1;       // of those three
};

// What came of one problem. Annealing, a baseline, has the largest budget; placers that
// are trained on the problem are graded after a tenth, a third and all of their placements.
//
// Where operators are merged, `placeto` policies and the RNN placer place groups, as published; all
// others place operators. All makespans are of the operators.
struct Graded {
  std::string set, family, topology;
  uint32_t nodes = 0, devices = 0;
  double ccr = 0;  // 0: a named network
  std::vector<Outcome> outcomes;
  double best_known_us = 0;  // of everything run on the problem, long searches included
  std::string unfit;         // why the policy was left out; empty: it was not

  // Not a number if it was not tried.
  double makespan_us(const Way& way) const;
  double ratio(const Way& way) const { return time_ratio(makespan_us(way), best_known_us); }
};

// Nothing if no heuristic fits the memory: there is no start to compare from.
std::optional<Graded> grade(const Instance& instance, const Policy& policy,
                            const EvaluateOptions& options);

// The results of several policies on one problem as one: ways that use a policy get its name, the
// others are the first's.
Graded combine(std::vector<Graded> graded, const std::vector<std::string>& policies);

}  // namespace placeto::train
