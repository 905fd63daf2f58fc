// Measuring a policy: on each problem, what heuristics, searches, baselines and the policy reach.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "runtime/policy/file/policy.h"
#include "trainer/data/problems.h"

namespace placeto::train {

struct EvaluateOptions {
  std::vector<uint64_t> budgets = {100, 300, 1'000};  // evaluations of the searches
  // Long searches for the best known placement, in turn multilevel annealing from `auto` and what
  // `search` is, guided by a `pairwise` policy; 0: none.
  uint32_t long_searches = 2;
  uint64_t long_evaluations = 20'000;
  bool annealings = false;      // every long search is one
  bool heuristics = true;       // each alone, as rows of their own
  bool baselines = false;       // random, expert, scotch and metis (where built), anneal
  bool unguided = true;         // searches without the policy
  uint32_t passes = 0;          // of the policy; 0: as many as place_auto makes
  uint32_t rnn_placements = 0;  // that the RNN placer may sample; 0: leave it out
};

struct Outcome {
  std::string method;
  double makespan_us = 0;    // of the operators; infinity: does not fit memory
  double milliseconds = 0;   // processor time, with the methods it starts from
  uint64_t evaluations = 0;  // placements or moves that were simulated; constructive heuristics: 0
};

// All starts are `auto`: the best heuristic, as place_auto finds it without a budget.
//   search N            adaptive search, as place_auto does it, N evaluations
//   policy              greedy passes
//   policy + search N   that search from where the passes end
// with a `pairwise` policy also, the proposals of the search ranked by it,
//   guided N, policy + guided N
// The baselines, by their names; `anneal` with the largest budget; `rnn N` for a tenth, a third and
// all of its placements.
//
// Where operators are merged, a `placeto` policy and the RNN placer place groups, as published; all
// others place operators. All makespans are of the operators.
struct Graded {
  std::string set, family;
  uint32_t nodes = 0, devices = 0;
  double ccr = 0;  // 0: a named network
  std::vector<Outcome> outcomes;
  double best_known_us = 0;  // of everything run on the problem, long searches included
  std::string unfit;         // why the policy was left out; empty: it was not

  // Not a number if the method was not run.
  double makespan_us(std::string_view method) const;
  double ratio(std::string_view method) const { return makespan_us(method) / best_known_us; }
};

// Nothing if no heuristic fits the memory: there is no start to compare from.
std::optional<Graded> grade(const Instance& instance, const Policy& policy,
                            const EvaluateOptions& options);

// The results of several policies on one problem as one: what depends on a policy is named after it
// ("policy" becomes its name, "guided 100" becomes "guided 100 by NAME"), the rest is the first's.
Graded combine(std::vector<Graded> graded, const std::vector<std::string>& policies);

}  // namespace placeto::train
