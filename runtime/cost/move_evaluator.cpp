#include "runtime/cost/move_evaluator.h"

#include <utility>

namespace placeto {

MoveEvaluator::MoveEvaluator(const Problem& problem) : evaluator_(problem) {
  const bool serial = problem.topology().spec().execution == Execution::kSerial;
  if (!serial && problem.objective() == Objective::kLatency) incremental_.emplace(problem);
}

// Makes the changes to base_, or takes them back.
void MoveEvaluator::swap_changes() {
  for (Change& change : changes_) std::swap(base_[change.node], change.device);
}

void MoveEvaluator::keep_times() {
  start_us_.assign(evaluator_.start_us().begin(), evaluator_.start_us().end());
  finish_us_.assign(evaluator_.finish_us().begin(), evaluator_.finish_us().end());
}

Score MoveEvaluator::rebase(std::span<const uint32_t> assignment) {
  ++evaluations_;
  base_.assign(assignment.begin(), assignment.end());
  if (incremental_ && evaluator_.surely_fits(base_)) {
    return score_ = {0, incremental_->rebase(base_)};
  }
  score_ = evaluator_.evaluate(base_);
  keep_times();
  if (incremental_) incremental_->rebase(base_);
  return score_;
}

Score MoveEvaluator::evaluate(std::span<const Change> changes, double cutoff_us) {
  ++evaluations_;
  changes_.assign(changes.begin(), changes.end());
  swap_changes();
  const bool makespan_only = incremental_ && evaluator_.surely_fits(base_);
  if (!makespan_only) trial_ = evaluator_.evaluate(base_);
  swap_changes();
  if (makespan_only) trial_ = {0, incremental_->evaluate(changes_, cutoff_us)};
  return trial_;
}

void MoveEvaluator::accept() {
  score_ = trial_;
  if (incremental_) incremental_->apply(changes_);
  swap_changes();
  if (incremental_) return;
  evaluator_.evaluate(base_);
  keep_times();
}

}  // namespace placeto
