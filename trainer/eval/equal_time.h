// What a policy is worth at equal processor time.
//
// `auto` places every problem with each of several numbers of evaluations, with the policy and
// without it, and the processor time of the whole call counts. What the policy reaches with a
// budget is compared with what is reached without it in the same time, on a straight line between
// the two nearest runs without it, logarithm of makespan over logarithm of time. (A cheaper run
// than the cheapest counts as that one, which favours doing without.) Ratios are geometric means
// over problems, with 95% intervals of the mean logarithm.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "runtime/policy/file/policy.h"
#include "trainer/base/parallel.h"
#include "trainer/data/test_sets.h"

namespace placeto::train {

struct EqualTimeOptions {
  std::vector<uint64_t> budgets = {0, 100, 300, 1'000, 3'000};  // evaluations; 0: no search
  uint32_t threads = 1;  // more share caches and clock, which times then show
  OnProgress on_progress = {};
};

// One budget on one set.
struct EqualTimeRow {
  std::string set;
  uint64_t budget = 0;
  uint32_t problems = 0;
  double with_ms = 0, without_ms = 0;     // mean processor time with that budget
  double equal_evaluations = 1;           // makespan with the policy over that without
  double ratio = 1, least = 1, most = 1;  // at equal time, and its interval
};

// A run: processor time, and what it reached.
struct TimedMakespan {
  double milliseconds = 0, makespan_us = 0;
};
// The logarithm of what runs, by ascending time, reach in `milliseconds`.
double log_makespan_at(std::span<const TimedMakespan> runs, double milliseconds);

// A row per set and budget; none for a set where no problem has a placement that fits its memory.
// kInvalidArgument, or kOutOfMemory, if the policy cannot place one of the problems.
Result<std::vector<EqualTimeRow>> measure_equal_time(std::span<const TestSet> sets,
                                                     const Policy& policy,
                                                     const EqualTimeOptions& options);

std::string equal_time_table(std::span<const EqualTimeRow> rows, bool color);
std::string equal_time_csv(std::span<const EqualTimeRow> rows);

}  // namespace placeto::train
