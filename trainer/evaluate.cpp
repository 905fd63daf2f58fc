#include "trainer/evaluate.h"

#include <time.h>

#include <algorithm>
#include <limits>

#include "runtime/heuristics/heuristics.h"
#include "runtime/placer/placer.h"
#include "runtime/placer/policy_pass.h"

namespace placeto::train {
namespace {

// Processor time of this thread: other programs on the machine do not count.
class Stopwatch {
 public:
  double milliseconds() const { return now() - start_; }

 private:
  static double now() {
    timespec t{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return static_cast<double>(t.tv_sec) * 1e3 + static_cast<double>(t.tv_nsec) * 1e-6;
  }
  double start_ = now();
};

class Grader {
 public:
  Grader(const Instance& instance, const Policy& policy, const EvaluateOptions& options)
      : problem_(*instance.problem),
        options_(options),
        hierarchy_(problem_),
        evaluator_(problem_),
        placer_(policy, problem_, hierarchy_) {}

  std::vector<Outcome> run() {
    if (!find_start()) return {};
    if (options_.heuristics) run_heuristics();
    const Candidate placed = greedy();
    for (const uint64_t budget : options_.budgets) {
      const std::string n = std::to_string(budget);
      if (options_.unguided) search("search " + n, start_, start_ms_, budget, 1, nullptr);
      search("guided " + n, start_, start_ms_, budget, 1, &placer_);
      search("policy + guided " + n, placed, placed_ms_, budget, 1, &placer_);
    }
    for (uint32_t i = 0; i < options_.long_searches; ++i) {
      ProposalRanker* ranker = i % 2 == 0 ? nullptr : &placer_;
      search("long search " + std::to_string(i + 1), i % 2 == 0 ? start_ : placed, start_ms_,
             options_.long_evaluations, 100 + i, ranker);
    }
    return std::move(outcomes_);
  }

 private:
  bool find_start() {
    const Stopwatch watch;
    Result<PlaceResult> found = place_auto(problem_, {});
    if (!found.ok()) return false;
    start_ = std::move(found->best);
    start_ms_ = watch.milliseconds();
    outcomes_.push_back({"auto", start_.score.objective_us, start_ms_, 0});
    return true;
  }

  void run_heuristics() {
    for (const Method* method : {&single_method(), &heft_method(), &etf_method(),
                                 &contiguous_method(), &iterate_method()}) {
      const Stopwatch watch;
      const Result<Candidate> candidate = method->place(problem_, {});
      const bool fits = candidate.ok() && candidate->score.feasible();
      outcomes_.push_back(
          {std::string(method->name()),
           fits ? candidate->score.objective_us : std::numeric_limits<double>::infinity(),
           watch.milliseconds(), 0});
    }
  }

  Candidate greedy() {
    const Stopwatch watch;
    const uint64_t before = evaluator_.evaluations();
    PolicyPassOptions options;
    options.passes = options_.passes;
    Candidate placed = placer_.place(start_, options, evaluator_);
    placed_ms_ = start_ms_ + watch.milliseconds();
    placed_evaluations_ = evaluator_.evaluations() - before;
    outcomes_.push_back({"policy", placed.score.objective_us, placed_ms_, placed_evaluations_});
    return placed;
  }

  void search(const std::string& name, Candidate from, double from_ms, uint64_t evaluations,
              uint64_t seed, ProposalRanker* ranker) {
    const Stopwatch watch;
    Budget budget;
    budget.evaluations = evaluations;
    multilevel_search(problem_, hierarchy_, budget, seed, evaluator_, from, ranker);
    const uint64_t spent = evaluations + (from_ms == start_ms_ ? 0 : placed_evaluations_);
    outcomes_.push_back({name, from.score.objective_us, from_ms + watch.milliseconds(), spent});
  }

  const Problem& problem_;
  const EvaluateOptions& options_;
  Hierarchy hierarchy_;
  MoveEvaluator evaluator_;
  PolicyPlacer placer_;
  Candidate start_;
  double start_ms_ = 0, placed_ms_ = 0;
  uint64_t placed_evaluations_ = 0;
  std::vector<Outcome> outcomes_;
};

}  // namespace

double Graded::makespan_us(std::string_view method) const {
  const auto it = std::find_if(outcomes.begin(), outcomes.end(),
                               [&](const Outcome& o) { return o.method == method; });
  return it == outcomes.end() ? std::numeric_limits<double>::quiet_NaN() : it->makespan_us;
}

std::optional<Graded> grade(const Instance& instance, const Policy& policy,
                            const EvaluateOptions& options) {
  Graded graded;
  graded.family = instance.family;
  graded.nodes = instance.problem->node_count();
  graded.devices = instance.problem->device_count();
  graded.ccr = instance.ccr;
  graded.outcomes = Grader(instance, policy, options).run();
  if (graded.outcomes.empty()) return std::nullopt;
  graded.best_known_us = std::numeric_limits<double>::infinity();
  for (const Outcome& o : graded.outcomes) {
    graded.best_known_us = std::min(graded.best_known_us, o.makespan_us);
  }
  return graded;
}

}  // namespace placeto::train
