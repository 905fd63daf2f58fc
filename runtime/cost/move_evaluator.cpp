#include "runtime/cost/move_evaluator.h"

#include <algorithm>
#include <utility>

#include "runtime/base/stoppable_sort.h"

namespace placeto {

MoveEvaluator::MoveEvaluator(const Problem& problem, Stop* stop) : evaluator_(problem, stop) {
  const bool parallel = problem.execution() == Execution::kParallel;
  if (parallel && problem.is_for_latency() && !stopped(stop)) {
    incremental_.emplace(problem, stop);
  } else {
    times_.start_us.resize(problem.node_count());
    times_.finish_us.resize(problem.node_count());
  }
}

// Makes the changes to base_, or takes them back: all of them, even if stopped.
void MoveEvaluator::swap_changes() {
  for (Change& change : changes_) {
    std::swap(base_[change.node], change.device);
    spend(stop(), 1);
  }
}

// After an evaluation of the base. For throughput that has none, and few ask.
void MoveEvaluator::keep_times() {
  times_.are_old = !problem().is_for_latency();
  if (times_.are_old) {
    busiest_.assign(evaluator_.busiest().begin(), evaluator_.busiest().end());
    return;
  }
  times_.start_us.assign(evaluator_.start_us().begin(), evaluator_.start_us().end());
  times_.finish_us.assign(evaluator_.finish_us().begin(), evaluator_.finish_us().end());
}

const MoveEvaluator::Times& MoveEvaluator::times() const {
  if (!times_.are_old || stopped(stop())) return times_;
  evaluator_.timeline(base_);
  times_.start_us.assign(evaluator_.start_us().begin(), evaluator_.start_us().end());
  times_.finish_us.assign(evaluator_.finish_us().begin(), evaluator_.finish_us().end());
  times_.are_old = false;
  return times_;
}

// Of the evaluator's last placement.
void MoveEvaluator::keep_peaks() {
  peak_bytes_.assign(evaluator_.peak_bytes().begin(), evaluator_.peak_bytes().end());
}

void MoveEvaluator::start_order(std::vector<uint32_t>& order) const {
  const auto topological = problem().graph().topological_order();
  order.assign(topological.begin(), topological.end());
  if (incremental_) {
    const auto index = incremental_->dispatch_index();
    for (uint32_t v = 0; v < order.size(); ++v) order[index[v]] = v;
    return;
  }
  const std::span<const double> start = start_us();
  stoppable_sort(
      order.begin(), order.end(), [&](uint32_t a, uint32_t b) { return start[a] < start[b]; },
      stop());
}

Score MoveEvaluator::rebase(std::span<const uint32_t> assignment) {
  ++evaluations_;
  const bool is_known = score_ != Score::worst() && std::ranges::equal(assignment, base_);
  if (is_known && !stopped(stop())) return score_;
  base_.assign(assignment.begin(), assignment.end());
  score_ = Score::worst();
  if (stopped(stop())) return score_;
  if (incremental_ && evaluator_.surely_fits(base_)) {
    keep_peaks();
    const double makespan_us = incremental_->rebase(base_);
    if (!stopped(stop())) score_ = {0, makespan_us};
    return score_;
  }
  const Score score = evaluator_.evaluate(base_);
  keep_peaks();
  keep_times();
  if (incremental_ && !stopped(stop())) incremental_->rebase(base_);
  return score_ = stopped(stop()) ? Score::worst() : score;
}

Score MoveEvaluator::evaluate(std::span<const Change> changes, double cutoff_us) {
  ++evaluations_;
  trial_ = Score::worst();
  if (stopped(stop())) return trial_;
  changes_.assign(changes.begin(), changes.end());
  spend(stop(), Stop::copied(changes_.size()));
  // Whatever fits is better than a base that does not, so then the makespan has to be known.
  if (!score_.feasible()) cutoff_us = kNever;
  bool late = false;
  if (incremental_ && score_.feasible()) {
    trial_ = {0, incremental_->evaluate(changes_, cutoff_us)};
    late = !(trial_.objective_us < cutoff_us);
  }
  if (!late) look_at_memory(cutoff_us);  // what is late, as most are, need not fit
  return trial_ = stopped(stop()) ? Score::worst() : trial_;
}

void MoveEvaluator::look_at_memory(double cutoff_us) {
  swap_changes();
  const bool fits = incremental_ && evaluator_.surely_fits(base_);
  if (!fits) trial_ = evaluator_.evaluate(base_, {}, cutoff_us);
  swap_changes();
  if (fits && !score_.feasible()) trial_ = {0, incremental_->evaluate(changes_)};
}

void MoveEvaluator::accept() {
  score_ = trial_;
  keep_peaks();
  if (incremental_ && !stopped(stop())) incremental_->apply(changes_);
  swap_changes();
  if (!incremental_) keep_times();  // the evaluator's last run
}

}  // namespace placeto
