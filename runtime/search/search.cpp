#include "runtime/search/search.h"

#include <algorithm>
#include <chrono>
#include <memory>

#include "runtime/base/portable_math.h"
#include "runtime/search/window_pass.h"

namespace placeto {
namespace {

// Temperature as a share of the makespan at the first evaluation, and as a share of that at the
// last; it falls linearly. Moves alone, mean ratio to the best known after 1,000 evaluations on 60
// random graphs of 40 to 160 nodes: 0.03, 0.01, 0.005, 0.002: 1.078, 1.059, 1.052, 1.053. With
// windows, which do not wander, 0 to 0.002 differ by 0.5% at most.
constexpr double kHotMoves = 0.005, kHotWindows = 0.0007, kCold = 0.02;

// Placing a node in a window takes about as long as simulating so many.
constexpr double kPlacing = 4;

// How much of a budget is used, in [0, 1].
class Clock {
 public:
  Clock(const Budget& budget, const MoveEvaluator& evaluator)
      : budget_(budget), evaluator_(evaluator), first_(evaluator.evaluations()) {
    if (budget.milliseconds > 0) start_ = std::chrono::steady_clock::now();
  }
  // `idle`: evaluations' worth of proposals that needed none.
  double used(double idle) const {
    double share = 0;
    Stop* const stop = evaluator_.stop();
    if (stop != nullptr && stop->requested()) return 1;
    if (budget_.evaluations > 0) {
      share = (static_cast<double>(evaluator_.evaluations() - first_) + idle) /
              static_cast<double>(budget_.evaluations);
    }
    if (budget_.milliseconds > 0) {
      const std::chrono::duration<double, std::milli> elapsed =
          std::chrono::steady_clock::now() - start_;
      share = std::max(share, elapsed.count() / budget_.milliseconds);
    }
    return std::min(share, 1.0);
  }

 private:
  const Budget& budget_;
  const MoveEvaluator& evaluator_;
  uint64_t first_;
  std::chrono::steady_clock::time_point start_;
};

// Which kind of proposal is next: drawn in proportion to what each has gained lately for what it
// cost, and neither is ever forgotten.
class Shares {
 public:
  bool draw_window(Random& random) const {
    constexpr double kLeast = 0.1;
    const double share = gain_[1] / (gain_[0] + gain_[1]);
    return random.uniform() < std::clamp(share, kLeast, 1 - kLeast);
  }
  // The cost in evaluations, at most 1.
  void note(bool window, double gain, double cost) {
    constexpr double kNews = 0.03;
    gain_[window] = std::max(1e-9, (1 - kNews * cost) * gain_[window] + kNews * gain);
  }

 private:
  double gain_[2] = {0.001, 0.001};  // shares of the makespan
};

class Annealing {
 public:
  // Without a hierarchy there are no moves.
  Annealing(const Hierarchy* hierarchy, bool windows, uint64_t seed, MoveEvaluator& evaluator,
            ProposalRanker* ranker)
      : random_(seed), hot_(windows ? kHotWindows : kHotMoves), evaluator_(evaluator) {
    if (hierarchy != nullptr) moves_ = std::make_unique<GroupMoves>(*hierarchy, evaluator, ranker);
    if (windows) windows_ = std::make_unique<WindowPass>(evaluator.problem(), evaluator.stop());
  }

  void run(const Budget& budget, Candidate& best) {
    const Clock clock(budget, evaluator_);
    if (evaluator_.rebase(best.assignment); stopped(evaluator_.stop())) return;
    best.score = evaluator_.score();
    base_changed();
    // A graph that offers nothing but moves and windows that change or promise nothing ends the
    // search. They are not simulated: such moves cost nothing, such windows count as the part of
    // the graph that they placed.
    constexpr int kMostIdle = 1'000;
    int idle = 0;
    double idle_windows = 0;
    for (double used = clock.used(0); used < 1 && idle < kMostIdle;
         used = clock.used(idle_windows)) {
      const bool window = windows_ && (!moves_ || shares_.draw_window(random_));
      if (window) {
        windows_->propose(evaluator_, random_, changes_);
      } else {
        moves_->propose(used, random_, changes_);
      }
      if (changes_.empty()) {
        ++idle;
        if (window) idle_windows += windows_->share();
        shares_.note(window, 0, window ? std::min(1.0, kPlacing * windows_->share()) : 1);
        continue;
      }
      idle = 0;
      shares_.note(window, try_changes(used), 1);
      if (evaluator_.score() < best.score) {
        best.score = evaluator_.score();
        best.assignment.assign(evaluator_.assignment().begin(), evaluator_.assignment().end());
      }
    }
  }

 private:
  // Evaluates changes_ and makes them if they are accepted. By what share the makespan fell, or 0.
  double try_changes(double used) {
    const Score before = evaluator_.score();
    const double cutoff = threshold_us(hot_ * std::max(1 - used, kCold));
    const Score score = evaluator_.evaluate(changes_, cutoff);
    if (!accepts(score, cutoff)) return 0;
    evaluator_.accept();
    base_changed();
    return std::max(0.0, 1 - score.objective_us / before.objective_us);
  }

  void base_changed() {
    if (moves_) moves_->base_changed();
    if (windows_) windows_->base_changed();
  }

  // Metropolis' rule with the random number drawn first: a candidate is accepted if its makespan is
  // below the current one plus temperature x makespan x (-ln u), so its evaluation can stop there.
  double threshold_us(double temperature) {
    const double u = 1 - random_.uniform();
    return evaluator_.score().objective_us * (1 - temperature * portable_log(u));
  }
  bool accepts(const Score& score, double cutoff) const {
    if (score.overflow_bytes != evaluator_.score().overflow_bytes) {
      return score.overflow_bytes < evaluator_.score().overflow_bytes;
    }
    return score.objective_us < cutoff;
  }

  Random random_;
  double hot_;
  MoveEvaluator& evaluator_;
  std::unique_ptr<GroupMoves> moves_;
  std::unique_ptr<WindowPass> windows_;
  Shares shares_;
  std::vector<Change> changes_;
};

}  // namespace

void adaptive_search(const Hierarchy& hierarchy, const Budget& budget, uint64_t seed,
                     MoveEvaluator& evaluator, Candidate& start, ProposalRanker* ranker) {
  Annealing(&hierarchy, true, seed, evaluator, ranker).run(budget, start);
}

void multilevel_search(const Hierarchy& hierarchy, const Budget& budget, uint64_t seed,
                       MoveEvaluator& evaluator, Candidate& start, ProposalRanker* ranker) {
  Annealing(&hierarchy, false, seed, evaluator, ranker).run(budget, start);
}

void window_search(const Budget& budget, uint64_t seed, MoveEvaluator& evaluator,
                   Candidate& start) {
  Annealing(nullptr, true, seed, evaluator, nullptr).run(budget, start);
}

}  // namespace placeto
