// The run of the placement that is searched from, as its devices and channels saw it: made at most
// once for each placement, when somebody asks.
#pragma once

#include <vector>

#include "runtime/cost/move_evaluator.h"
#include "runtime/timeline/queues.h"

namespace placeto {

// Not shareable between threads.
class CurrentRun {
 public:
  // The evaluator must outlive it.
  explicit CurrentRun(const MoveEvaluator& evaluator)
      : evaluator_(&evaluator), queues_(evaluator.problem()) {}

  // The evaluator's base placement is another one.
  void base_changed() { is_old_ = true; }

  const MoveEvaluator& evaluator() const { return *evaluator_; }
  // Incomplete once stopped.
  const Queues& queues() {
    update();
    return queues_;
  }

 private:
  void update() {
    if (!is_old_) return;
    is_old_ = false;
    evaluator_->start_order(order_);
    if (stopped(evaluator_->stop())) return;
    queues_.load({evaluator_->problem(), evaluator_->assignment(), order_, evaluator_->start_us(),
                  evaluator_->finish_us()},
                 evaluator_->stop());
  }

  const MoveEvaluator* evaluator_;
  bool is_old_ = true;
  std::vector<uint32_t> order_;  // in which nodes start
  Queues queues_;
};

}  // namespace placeto
