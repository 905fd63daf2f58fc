// What a policy is worth at equal processor time.
//
// `auto` places every problem with each of several numbers of evaluations, with the policy and
// without it, and the processor time of the whole call counts. What the policy reaches with a
// budget is compared with what is reached without it in the same time, on a straight line between
// the two nearest runs without it, logarithm of makespan over logarithm of time. (A cheaper run
// than the cheapest counts as that one, which favours doing without; one that takes longer than the
// longest is compared with that one, which favours the policy, and is counted.) Ratios are
// geometric means over graphs, each of which counts with its mean logarithm over the topologies
// that it is on: what these say of a policy is much the same. The 95% intervals of the mean
// logarithm are Student's.
#pragma once

#include <atomic>
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
  const std::atomic<bool>* stop = nullptr;  // ends with the sets that are done
};

// One budget on one set.
struct EqualTimeRow {
  std::string set;
  uint64_t budget = 0;
  uint32_t problems = 0, graphs = 0;
  uint32_t beyond = 0;  // problems on which the policy took longer than the longest run without it
  double with_ms = 0, without_ms = 0;     // mean processor time with that budget
  double equal_evaluations = 1;           // makespan with the policy over that without
  double ratio = 1, least = 1, most = 1;  // at equal time; its interval, no numbers for one graph
};

// A run: processor time, and what it reached.
struct TimedMakespan {
  double milliseconds = 0, makespan_us = 0;
};
// The logarithm of what runs, by ascending time, reach in `milliseconds`.
double log_makespan_at(std::span<const TimedMakespan> runs, double milliseconds);

// The runs of one problem.
struct EqualTimeRuns {
  uint32_t graph = 0;                          // its number in the set
  std::vector<TimedMakespan> with, without;    // per budget
  std::vector<TimedMakespan> without_by_time;  // the same and a longer one, by ascending time
};
// The row of a set and one of the budgets, without their names. There is a problem.
EqualTimeRow equal_time_row(std::span<const EqualTimeRuns> problems, size_t budget);

// A row per set and budget; none for a set where no problem has a placement that fits its memory.
// `sets_done`: fewer than there are if it was stopped. kInvalidArgument, or kOutOfMemory, if the
// policy cannot place one of the problems.
Result<std::vector<EqualTimeRow>> measure_equal_time(std::span<const TestSet> sets,
                                                     const Policy& policy,
                                                     const EqualTimeOptions& options,
                                                     size_t* sets_done = nullptr);

// Under the table, where any problems count as `beyond`: how many of how many.
std::string equal_time_table(std::span<const EqualTimeRow> rows);
std::string equal_time_csv(std::span<const EqualTimeRow> rows);
std::string equal_time_json(std::span<const EqualTimeRow> rows);

}  // namespace placeto::train
