// Measuring a policy: on each problem, what heuristics, searches and the policy reach.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "runtime/policy/policy.h"
#include "trainer/problems.h"

namespace placeto::train {

struct EvaluateOptions {
  std::vector<uint64_t> budgets = {100, 300, 1'000};  // evaluations of the searches
  // Long searches for the best known placement, half of them guided by the policy; 0: none.
  uint32_t long_searches = 2;
  uint64_t long_evaluations = 20'000;
  bool heuristics = true;  // each alone, as rows of their own
  bool unguided = true;    // searches without the policy
  uint32_t passes = 3;     // of the policy
};

struct Outcome {
  std::string method;
  double makespan_us = 0;
  double milliseconds = 0;   // processor time, with the methods it starts from
  uint64_t evaluations = 0;  // of moves, by passes and searches; heuristics: 0
};

// All starts are `auto`: the best heuristic, as place_auto finds it without a budget.
//   search N            multilevel search, N evaluations
//   policy              greedy passes
//   guided N            the same search as `search N`, its proposals ranked by the policy
//   policy + guided N   that search from the greedy passes' placement
struct Graded {
  std::string set, family;
  uint32_t nodes = 0, devices = 0;
  double ccr = 0;  // 0: a named network
  std::vector<Outcome> outcomes;
  double best_known_us = 0;  // of everything run on the problem, long searches included

  double makespan_us(std::string_view method) const;
};

// Nothing if no heuristic fits the memory: there is no start to compare from.
std::optional<Graded> grade(const Instance& instance, const Policy& policy,
                            const EvaluateOptions& options);

}  // namespace placeto::train
