#include "runtime/search/promising_moves.h"

#include <algorithm>
#include <vector>

#include "runtime/base/stoppable_sort.h"
#include "runtime/groups/all_levels.h"
#include "runtime/heuristics/best_met.h"
#include "runtime/search/current_run.h"
#include "runtime/search/tuning.h"
#include "runtime/timeline/move_estimate.h"

namespace placeto {
namespace {

class Pass {
 public:
  Pass(const Hierarchy& hierarchy, MoveEvaluator& evaluator)
      : evaluator_(evaluator),
        problem_(evaluator.problem()),
        levels_(hierarchy, problem_),
        stop_(evaluator.stop()),
        run_(evaluator),
        estimate_(problem_) {}

  void run() {
    levels_.each([this](uint32_t level) {
      if (!stopped(stop_)) run_level(level);
    });
  }

 private:
  struct Decision {
    uint32_t group, device;
    double gain_us;
  };

  // Decisions are simulated in a few batches: every simulation that helps shows the next ones
  // another run.
  void run_level(uint32_t level) {
    level_ = level;
    const uint32_t groups = levels_.group_count(level_);
    if (!tuning::promises_on_level(groups, problem_.node_count())) return;
    order_groups(groups);
    const uint32_t batches = tuning::promise_batches(problem_.node_count());
    const uint32_t batch = (groups + batches - 1) / batches;
    for (uint32_t i = 0; i < groups && !stopped(stop_); ++i) {
      decide(order_[i]);
      if ((i + 1) % batch == 0 || i + 1 == groups) settle();
    }
  }

  // By when their first node starts.
  void order_groups(uint32_t groups) {
    order_.clear();
    seen_.assign(groups, false);
    const Queues& queues = run_.queues();
    for (uint32_t i = 0; i < problem_.node_count() && !spend(stop_, 1); ++i) {
      const uint32_t group = levels_.group_of(level_, queues.node_at(i));
      if (!seen_[group]) order_.push_back(group);
      seen_[group] = true;
    }
  }

  void decide(uint32_t group) {
    const Queues& queues = run_.queues();
    if (!estimate_.is_waited_for(queues, nodes(group), stop_)) return;
    Decision best{group, 0, 0};
    for (uint32_t d = 0; d < problem_.device_count() && !stopped(stop_); ++d) {
      if (!levels_.allowed(level_, group, d)) continue;
      const double gain_us = -estimate_.change_us(queues, nodes(group), d, -best.gain_us, stop_);
      if (gain_us > best.gain_us) best = {group, d, gain_us};
    }
    if (best.gain_us > 0) decisions_.push_back(best);
  }

  // What is good alone can be bad together: where all do not help, the more promising half may, or
  // half of that.
  void settle() {
    stoppable_sort(
        decisions_.begin(), decisions_.end(),
        [](const Decision& a, const Decision& b) { return a.gain_us > b.gain_us; }, stop_);
    for (size_t count = decisions_.size(); count > 0 && !stopped(stop_); count /= 2) {
      if (improve({decisions_.data(), count})) break;
    }
    decisions_.clear();
  }

  bool improve(std::span<const Decision> decisions) {
    changes_.clear();
    for (const Decision& decision : decisions) {
      for (const uint32_t v : watched(nodes(decision.group), stop_)) {
        if (evaluator_.assignment()[v] != decision.device) changes_.push_back({v, decision.device});
      }
    }
    const Score before = evaluator_.score();
    if (!(evaluator_.evaluate(changes_, before.objective_us) < before)) return false;
    evaluator_.accept();
    run_.base_changed();
    return true;
  }

  std::span<const uint32_t> nodes(uint32_t group) const { return levels_.nodes(level_, group); }

  MoveEvaluator& evaluator_;
  const Problem& problem_;
  AllLevels levels_;
  Stop* stop_;
  CurrentRun run_;
  MoveEstimate estimate_;
  uint32_t level_ = 0;
  std::vector<uint32_t> order_;
  std::vector<bool> seen_;  // by group
  std::vector<Decision> decisions_;
  std::vector<Change> changes_;
};

}  // namespace

void make_promising_moves(const Hierarchy& hierarchy, MoveEvaluator& evaluator, Candidate& start) {
  evaluator.rebase(start.assignment);
  if (stopped(evaluator.stop()) || !evaluator.times_can_tell()) return;
  Pass(hierarchy, evaluator).run();
  keep_better(evaluator, start);
}

}  // namespace placeto
