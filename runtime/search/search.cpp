#include "runtime/search/search.h"

#include <algorithm>
#include <chrono>
#include <memory>

#include "runtime/search/acceptance.h"
#include "runtime/search/estimate_ranker.h"
#include "runtime/search/make_room.h"
#include "runtime/search/marks.h"
#include "runtime/search/path_bound.h"
#include "runtime/search/polish.h"
#include "runtime/search/window_pass.h"

namespace placeto {
namespace {

// Temperature as a share of the makespan at the first evaluation of a round, and as a share of that
// at the last; it falls linearly. Moves alone, mean ratio to the best known after 1,000 evaluations
// on 60 random graphs of 40 to 160 nodes: 0.03, 0.01, 0.005, 0.002: 1.078, 1.059, 1.052, 1.053.
// With windows, which do not wander, 0 to 0.002 differ by 0.5% at most.
constexpr double kHotMoves = 0.005, kHotPipelines = 0.02, kHotWindows = 0.0007, kCold = 0.02;
// With windows the heat is also measured in transfers: where they take long, the first move out of
// a good placement adds about one, and only the next ones gain. So many of a mean transfer, but at
// most that share of the makespan. For throughput see tests/bench/results/search.md, "Pipelines".
constexpr double kHotTransfers = 0.4, kHottest = 0.03;

// Placing a node in a window takes about as long as simulating so many.
constexpr double kPlacing = 4;

// Patience, below, as a share of all moves, and of the evaluations of a round.
constexpr double kPatience = 0.5, kPatienceOfRound = 0.5;

// A round is late that begins after so many evaluations for each group. What is then left to be
// found are moves of few nodes: it begins with fine groups, as other rounds end, and cools faster
// (tests/bench/results/search.md, "Late rounds").
constexpr double kLate = 10;

double mean_transfer_us(const Problem& problem, Stop* stop) {
  double sum_us = 0;
  for (uint32_t v = 0; v < problem.node_count(); ++v) {
    const auto in_edges = problem.graph().in_edges(v);
    for (const InEdge& in : watched(in_edges, stop)) sum_us += problem.mean_transfer_us(in.output);
    if (spend(stop, 1 + in_edges.size())) break;
  }
  return sum_us / std::max(1u, problem.graph().edge_count());
}

// How far a budget is used up.
class Clock {
 public:
  Clock(const Budget& budget, const MoveEvaluator& evaluator, PlacingProgress* progress)
      : budget_(budget),
        evaluator_(evaluator),
        progress_(progress),
        first_(evaluator.evaluations()) {
    if (budget.milliseconds > 0) start_ = std::chrono::steady_clock::now();
  }
  // Evaluations so far, with the worth of what needed none, and without what does not count.
  double spent() const {
    return static_cast<double>(evaluator_.evaluations() - first_ - uncounted_) + idle_;
  }
  void idle(double evaluations) { idle_ += evaluations; }
  void do_not_count(uint64_t evaluations) { uncounted_ += evaluations; }
  bool stopped() const { return placeto::stopped(evaluator_.stop()); }
  bool over() const {
    if (progress_ != nullptr) progress_->evaluations = spent();
    if (Stop* const stop = evaluator_.stop(); stop != nullptr && stop->requested()) return true;
    if (budget_.evaluations > 0 && spent() >= static_cast<double>(budget_.evaluations)) return true;
    return late();
  }
  bool late() const {
    if (!(budget_.milliseconds > 0)) return false;
    const std::chrono::duration<double, std::milli> elapsed =
        std::chrono::steady_clock::now() - start_;
    return elapsed.count() >= budget_.milliseconds;
  }

 private:
  const Budget& budget_;
  const MoveEvaluator& evaluator_;
  PlacingProgress* progress_;
  uint64_t first_, uncounted_ = 0;
  double idle_ = 0;
  std::chrono::steady_clock::time_point start_;
};

// No search ends after more, and no mark is beyond what 64 bits hold.
constexpr uint64_t kMostEvaluations = 1'000'000'000'000'000;

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
  // Without a hierarchy there are no moves, and no polishing.
  Annealing(const Hierarchy* hierarchy, bool windows, uint64_t seed, MoveEvaluator& evaluator,
            const SearchOptions& options)
      : hierarchy_(hierarchy),
        random_(seed),
        hot_(evaluator.problem().is_for_latency() ? kHotMoves : kHotPipelines),
        evaluator_(evaluator),
        paths_(evaluator.problem(), evaluator.stop()),
        make_room_(evaluator),
        proposals_(evaluator),
        finish_(options.finish),
        progress_(options.progress) {
    polishes_ = options.polish && hierarchy != nullptr;
    if (options.polished != nullptr) polished_ = *options.polished;
    if (hierarchy != nullptr) {
      ProposalRanker* ranker = options.ranker;
      if (ranker == nullptr && windows && evaluator.problem().times_can_tell()) {
        proposals_.estimates = std::make_unique<EstimateRanker>(*hierarchy, proposals_.run);
        ranker = proposals_.estimates.get();
      }
      proposals_.moves = std::make_unique<GroupMoves>(*hierarchy, evaluator, ranker);
    }
    if (windows) proposals_.windows = std::make_unique<WindowPass>(proposals_.run);
  }

  // A longer search begins with all of a shorter one, so that more budget is never worse: what it
  // does depends on how much has been spent, and not on how much is left. So it cools down again
  // and again, in rounds that end after 30, 100, 200, 300, 500 evaluations and so on; and it
  // polishes what it has, so that the end of a search is a point that all longer ones pass.
  void run(Budget budget, Candidate& best) {
    if (budget.evaluations > 0) {
      budget.evaluations = last_polish(std::min(budget.evaluations, kMostEvaluations));
      if (budget.evaluations == 0) return;
    }
    Clock clock(budget, evaluator_, progress_);
    if (evaluator_.rebase(best.assignment); stopped(evaluator_.stop())) return;
    best.take(evaluator_.assignment(), evaluator_.score());  // as moves of it are: divided by rule
    if (proposals_.windows && best.score.objective_us > 0) {
      const double transfer_us = mean_transfer_us(evaluator_.problem(), evaluator_.stop());
      hot_ =
          std::clamp(kHotTransfers * transfer_us / best.score.objective_us, kHotWindows, kHottest);
    }
    base_changed();
    uint64_t begin = 0, end = 30;
    for (uint64_t mark = 0; !clock.over() && idle_ < kMostIdle;) {
      const uint64_t next = next_stretch(mark);
      while (mark >= end) {
        begin = end;
        end = next_mark(end, {1, 2, 3, 5});
      }
      anneal(static_cast<double>(begin), static_cast<double>(end), static_cast<double>(next), clock,
             best);
      // An end that longer searches do not pass is not polished: theirs might be worse then.
      const bool is_passed = budget.evaluations == 0 || next <= budget.evaluations || polishes(0) ||
                             idle_ >= kMostIdle;
      const bool in_time = !clock.stopped() && (!clock.late() || polishes(0));
      if ((polishes(next) || finish_) && is_passed && in_time) {
        polish_best(polishes(next), clock, best);
      }
      mark = next;
    }
    if (best.score < polished_.after.score) {
      const bool by_time = budget.evaluations == 0 && !stopped(evaluator_.stop());
      if (by_time && finish_) finish_(best);
      return;
    }
    polished_.after.method = std::move(best.method);
    best = std::move(polished_.after);
  }

 private:
  bool polishes(uint64_t mark) const {
    return polishes_ && polish_pays(evaluator_.problem(), mark);
  }
  // Often where polishing is cheap beside what it follows. On a large graph it begins where it
  // pays, and follows as many evaluations as it is worth.
  uint64_t next_stretch(uint64_t mark) const {
    const uint64_t enough = evaluations_to_polish(evaluator_.problem());
    if (mark >= 4 * enough) return next_mark(mark, {10, 15, 20, 30, 50, 70});
    if (polishes(0)) return next_mark(mark, {1, 3});
    if (mark < enough) return std::min(enough, next_mark(mark, {1, 3}));
    return next_mark(std::max(mark, 2 * enough - 1), {1, 2, 3, 5});
  }
  // The last point up to which the budget reaches at which it would be polished; all of the budget
  // if there is none.
  uint64_t last_polish(uint64_t evaluations) const {
    uint64_t last = polishes(0) ? 0 : evaluations;
    for (uint64_t mark = next_stretch(0); mark <= evaluations; mark = next_stretch(mark)) {
      if (polishes(mark)) last = mark;
    }
    return last;
  }

  // Beside the search, which goes on from where it was: around what is polished it finds less.
  // Where that does not pay, the best is only finished.
  void polish_best(bool pays, Clock& clock, const Candidate& best) {
    if (best.score == polished_.before) return;
    polished_.before = best.score;
    const uint64_t before = evaluator_.evaluations();
    here_.assign(evaluator_.assignment().begin(), evaluator_.assignment().end());
    Candidate found = best;
    if (pays) polish(hierarchy_, evaluator_, found);
    if (finish_ && !clock.stopped()) finish_(found);
    if (!clock.stopped()) evaluator_.rebase(here_);
    clock.do_not_count(evaluator_.evaluations() - before);
    if (found.score < polished_.after.score) polished_.after = std::move(found);
  }

  // A graph that offers nothing but moves and windows that change or promise nothing ends the
  // search. They are not simulated: such moves cost next to nothing, such windows count as the part
  // of the graph that they placed.
  static constexpr int kMostIdle = 1'000;

  // Proposals without a gain after which it goes back to the best placement with part of it
  // disturbed: about as many as it has moves, but no fewer than a long round needs to get away.
  static double patience(const Problem& problem, double round) {
    const double moves = static_cast<double>(problem.group_count()) * (problem.device_count() - 1);
    return std::max({100.0, kPatience * moves, kPatienceOfRound * round});
  }

  // Until so much is spent. It cools down from `begin` to `end`.
  void anneal(double begin, double end, double until, Clock& clock, Candidate& best) {
    const Problem& problem = evaluator_.problem();
    const bool is_late_round = begin >= kLate * problem.group_count();
    const double most_without_gain = patience(problem, end - begin);
    while (!clock.over() && idle_ < kMostIdle && clock.spent() < until) {
      const double used = std::min(1.0, (clock.spent() - begin) / (end - begin));
      if (proposals_.moves && clock.spent() - last_gain_ > most_without_gain) {
        disturb(clock, best);
        continue;
      }
      const bool window = proposals_.windows && (!proposals_.moves || shares_.draw_window(random_));
      if (window) {
        proposals_.windows->propose(random_, changes_);
      } else {
        proposals_.moves->propose(is_late_round ? 1 : used, random_, changes_);
      }
      if (changes_.empty()) {
        ++idle_;
        if (window) clock.idle(proposals_.windows->share());
        shares_.note(window, 0, window ? std::min(1.0, kPlacing * proposals_.windows->share()) : 1);
        continue;
      }
      idle_ = 0;
      const double left = 1 - used;
      try_changes(is_late_round ? left * left * left : left, window, clock);
      if (evaluator_.score() < best.score) {
        last_gain_ = clock.spent();
        best.take(evaluator_.assignment(), evaluator_.score());
        if (progress_ != nullptr && best.score.feasible()) {
          progress_->note_best(best.score.objective_us);
        }
      }
    }
  }

  void disturb(Clock& clock, const Candidate& best) {
    last_gain_ = clock.spent();
    here_ = best.assignment;
    proposals_.moves->disturb(random_, changes_);
    for (const Change& change : changes_) here_[change.node] = change.device;
    evaluator_.rebase(here_);
    base_changed();
  }

  // Evaluates changes_ and makes them if they are accepted, at this share of the heat.
  void try_changes(double heat, bool window, Clock& clock) {
    constexpr double kLook = 0.05;  // evaluations that looking at a path takes
    make_room_.mend(random_, changes_);
    const Score before = evaluator_.score();
    const double cutoff = threshold_us(before.objective_us, hot_ * std::max(heat, kCold), random_);
    if (!window && before.feasible() &&
        paths_.least_us(evaluator_.assignment(), changes_) >= cutoff) {
      clock.idle(kLook);
      return;
    }
    const Score score = evaluator_.evaluate(changes_, cutoff);
    if (!accepts(score, before, cutoff)) return shares_.note(window, 0, 1);
    evaluator_.accept();
    base_changed();
    shares_.note(window, std::max(0.0, 1 - score.objective_us / before.objective_us), 1);
  }

  void base_changed() {
    paths_.base_changed();
    proposals_.base_changed();
  }

  // What may be proposed, or nullptr.
  struct Proposals {
    explicit Proposals(const MoveEvaluator& evaluator) : run(evaluator) {}
    void base_changed() {
      run.base_changed();
      if (moves) moves->base_changed();
      if (windows) windows->base_changed();
    }
    CurrentRun run;
    std::unique_ptr<EstimateRanker> estimates;
    std::unique_ptr<GroupMoves> moves;
    std::unique_ptr<WindowPass> windows;
  };

  const Hierarchy* hierarchy_;
  Random random_;
  double hot_;
  MoveEvaluator& evaluator_;
  PathBound paths_;
  MakeRoom make_room_;
  Proposals proposals_;
  double last_gain_ = 0;
  const std::function<void(Candidate&)> finish_;
  PlacingProgress* const progress_;
  int idle_ = 0;
  Shares shares_;
  std::vector<Change> changes_;
  Assignment here_;
  bool polishes_;
  Polished polished_;  // beside the search: what was last, and the best that it ever gave
};

}  // namespace

void adaptive_search(const Hierarchy& hierarchy, const Budget& budget, uint64_t seed,
                     MoveEvaluator& evaluator, Candidate& start, const SearchOptions& options) {
  Annealing(&hierarchy, true, seed, evaluator, options).run(budget, start);
}

void multilevel_search(const Hierarchy& hierarchy, const Budget& budget, uint64_t seed,
                       MoveEvaluator& evaluator, Candidate& start, const SearchOptions& options) {
  Annealing(&hierarchy, false, seed, evaluator, options).run(budget, start);
}

void window_search(const Budget& budget, uint64_t seed, MoveEvaluator& evaluator,
                   Candidate& start) {
  Annealing(nullptr, true, seed, evaluator, {}).run(budget, start);
}

}  // namespace placeto
