// What policies of the published architecture make of different starts, on graphs as they see them
// (operators merged into groups), and how many placements the RNN placer samples to be as good.
#pragma once

#include <array>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include "trainer/base/parallel.h"
#include "trainer/data/test_sets.h"
#include "trainer/eval/named_policy.h"

namespace placeto::train {

// Means over the graphs of a set, of makespans geometric ones: those of the merged graph, over that
// of its best heuristic.
struct StartRow {
  std::string set, policy;
  uint32_t graphs = 0;
  std::array<double, 3> start = {};   // of the start itself
  std::array<double, 3> placed = {};  // the best that greedy passes from it meet
  std::array<double, 3> steps = {};   // decisions of those passes
  // The best that the RNN placer samples in all; not a number without it.
  double rnn = std::numeric_limits<double>::quiet_NaN();
  std::array<uint32_t, 3> reached = {};  // on how many graphs it finds one as good as `placed`
  // Median of how many it samples until then; infinity if it does not on most.
  std::array<double, 3> rnn_placements = {};
};

struct StartOptions {
  uint32_t passes = 3;
  uint32_t rnn_placements = 0;  // 0: without the RNN placer
  uint32_t threads = 0;
  OnProgress on_progress = {};  // after each graph
};

// One row per set and policy; none for a set where no problem has a placement that fits its memory.
// kInvalidArgument if a policy is of another architecture, or of another number of devices than any
// of the problems.
Result<std::vector<StartRow>> measure_starts(std::span<const TestSet> sets,
                                             std::span<const NamedPolicy> policies,
                                             const StartOptions& options);

std::string starts_table(std::span<const StartRow> rows);
std::string starts_csv(std::span<const StartRow> rows);

}  // namespace placeto::train
