// MoveEvaluator: scores of neighbours of one placement, for local search. Incremental where the
// rules allow it, complete otherwise; the scores are the same.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "runtime/cost/evaluator.h"
#include "runtime/cost/incremental.h"

namespace placeto {

class MoveEvaluator {
 public:
  // Once stopped, every score is Score::worst(), and times are those of an earlier base.
  explicit MoveEvaluator(const Problem& problem, Stop* stop = nullptr);

  Score rebase(std::span<const uint32_t> assignment);
  // Score of the base divided in this way, not by rule.
  Score evaluate(const Division& division) { return evaluator_.evaluate(base_, division); }

  // Score of the base with the changes made; their nodes are distinct. A makespan that is sure not
  // to be below `cutoff_us` may come back as infinity, its memory not looked at, unless the base
  // does not fit in memory.
  Score evaluate(std::span<const Change> changes, double cutoff_us = kNever);
  // Makes the changes last evaluated part of the base: their makespan was below the cutoff.
  void accept();

  const Score& score() const { return score_; }  // of the base
  // Problem::times_can_tell, of the base: not where memory does not fit, either.
  bool times_can_tell() const { return problem().times_can_tell() && score_.feasible(); }
  std::span<const uint32_t> assignment() const { return base_; }
  // Of the base, as the evaluator has it; empty before there is one.
  std::span<const uint64_t> peak_bytes() const { return peak_bytes_; }
  // Timeline of the base, per node.
  std::span<const double> start_us() const {
    return incremental_ ? incremental_->start_us() : times().start_us;
  }
  std::span<const double> finish_us() const {
    return incremental_ ? incremental_->finish_us() : times().finish_us;
  }
  // For throughput: the devices of the base's bottleneck (bottleneck.h).
  std::span<const uint32_t> busiest() const { return busiest_; }
  // Nodes in a topological order, those of a device in the order in which they start; in no order
  // once stopped.
  void start_order(std::vector<uint32_t>& order) const;

  uint64_t evaluations() const { return evaluations_; }
  const Problem& problem() const { return evaluator_.problem(); }
  Stop* stop() const { return evaluator_.stop(); }

 private:
  // Scores the changes, whose makespan is known if the base fits.
  void look_at_memory(double cutoff_us);
  void swap_changes();
  struct Times {
    std::vector<double> start_us, finish_us;
    bool are_old = false;
  };
  void keep_times();
  const Times& times() const;
  void keep_peaks();

  mutable Evaluator evaluator_;  // times() makes a timeline
  std::optional<IncrementalSimulator> incremental_;
  std::vector<uint32_t> base_;
  std::vector<Change> changes_;
  std::vector<uint64_t> peak_bytes_;
  Score score_ = Score::worst(), trial_;  // of base_; the worst where that is not known
  mutable Times times_;                   // where the evaluation is not incremental
  std::vector<uint32_t> busiest_;
  uint64_t evaluations_ = 0;
};

}  // namespace placeto
