// Evaluator: scores placements for searches. Score = memory overflow first, then the objective.
#pragma once

#include <compare>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "runtime/cost/simulator.h"

namespace placeto {

struct Score {
  uint64_t overflow_bytes = 0;  // peak memory beyond the limits, over all devices; saturates
  double objective_us = 0;      // makespan, or the bottleneck for Objective::kThroughput

  // The score of what was not evaluated to the end. Nothing is worse.
  static Score worst() { return {std::numeric_limits<uint64_t>::max(), kNever}; }

  bool feasible() const { return overflow_bytes == 0; }
  friend auto operator<=>(const Score&, const Score&) = default;
};

// Not shareable between threads; no allocation after the first call. Exact memory needs the whole
// timeline; it is only computed when a bound that needs none (everything a device ever holds, at
// once) exceeds a limit.
class Evaluator {
 public:
  explicit Evaluator(const Problem& problem, Stop* stop = nullptr);

  // Score of a placement that obeys the rules (allowed devices, colocation) and is divided in this
  // way, by the best rule if that is empty; Score::worst() once stopped. A makespan that is sure
  // not to be below `cutoff_us` may come back as infinity, and then its memory has not been looked
  // at.
  Score evaluate(std::span<const uint32_t> assignment, const Division& division = {},
                 double cutoff_us = kNever);

  // True if even everything a device ever holds, as if at once, is within every limit.
  bool surely_fits(std::span<const uint32_t> assignment);

  // The whole timeline of a placement, or part of it once stopped; not counted as an evaluation.
  // An empty division: by the best rule.
  const Timeline& timeline(std::span<const uint32_t> assignment, const Division& division = {}) {
    return simulator_.run(assignment, division);
  }
  Timeline take_timeline(std::span<const uint32_t> assignment, const Division& division = {}) && {
    timeline(assignment, division);
    return std::move(simulator_).take_timeline();
  }
  // Of the last placement evaluated; for throughput, of the last one whose timeline was made.
  std::span<const double> start_us() const { return simulator_.start_us(); }
  std::span<const double> finish_us() const { return simulator_.finish_us(); }
  // The same for its stages, under staged execution; 0 under others.
  uint32_t stage_count() const { return simulator_.stage_count(); }

  // For throughput: the devices of the bottleneck that was found last (bottleneck.h). Under staged
  // execution, of the division that was looked at last, which need not be the best.
  std::span<const uint32_t> busiest() const { return simulator_.busiest(); }
  // Per device: peaks of the last placement evaluated below its cutoff, or bounds on them that are
  // within the limits, which surely_fits() leaves, too. Zeros where nothing can be too much.
  std::span<const uint64_t> peak_bytes() const { return held_; }

  // How many placements have been evaluated.
  uint64_t evaluations() const { return evaluations_; }
  const Problem& problem() const { return *problem_; }
  Stop* stop() const { return stop_; }

 private:
  Score score_of(const Timeline* timeline);  // nullptr: of what is late

  const Problem* problem_;
  Stop* stop_;
  Simulator simulator_;
  std::vector<uint64_t> held_, workspace_;  // per device
  std::vector<uint32_t> seen_;              // device -> last output counted there
  uint64_t evaluations_ = 0;
};

// True if every node runs on a device its group is allowed on and groups stay together.
bool obeys_rules(const Problem& problem, std::span<const uint32_t> assignment);

// Per device, how many bytes of `peak` exceed the memory limit.
std::vector<uint64_t> memory_shortfall(const Problem& problem, std::span<const uint64_t> peak);

}  // namespace placeto
