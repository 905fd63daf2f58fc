// Time against quality: what placing within a time budget reaches, with a policy and without.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "runtime/policy/file/policy.h"
#include "trainer/base/parallel.h"

namespace placeto::train {

struct ParetoOptions {
  std::vector<uint32_t> nodes = {100, 1'000, 10'000};
  std::vector<double> budgets_ms = {1, 5, 20, 100};
  uint32_t problems = 8;         // of each size
  double best_known_ms = 2'000;  // two searches of so long, one with the policy and one without
  OnProgress on_progress = {};   // after each problem
};

// Mean over the problems of one size.
struct ParetoPoint {
  uint32_t nodes = 0;
  double budget_ms = 0;
  bool policy = false;
  double milliseconds = 0;  // wall time it took
  double ratio = 0;         // geometric mean of makespan over the best known
  uint32_t won = 0;         // problems where it is better than the other way by 0.01% or more
};

// The runtime's `auto` within each budget, with the policy and without it, one after the other on
// each problem. Random graphs of the test seeds, of all four families, on 2 to 8 devices, no limit
// of memory. One thread. kInvalidArgument, or kOutOfMemory, if the policy cannot place one of them.
Result<std::vector<ParetoPoint>> measure_pareto(const Policy& policy, const ParetoOptions& options);

std::string pareto_table(std::span<const ParetoPoint> points);
std::string pareto_csv(std::span<const ParetoPoint> points);
std::string pareto_svg(std::span<const ParetoPoint> points);

}  // namespace placeto::train
