#include "trainer/eval/evaluate.h"

#include <algorithm>
#include <limits>
#include <mutex>

#include "runtime/heuristics/heuristics.h"
#include "runtime/placer/methods.h"
#include "runtime/placer/placer.h"
#include "runtime/policy/guide.h"
#include "runtime/search/search.h"
#include "tools/partition/partition.h"
#include "trainer/data/merge.h"
#include "trainer/eval/expert.h"
#include "trainer/eval/hierarchical_placer.h"
#include "trainer/eval/processor_time.h"
#include "trainer/eval/rnn_placer.h"
#include "trainer/eval/trained_placer.h"

namespace placeto::train {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

const Instance& operators_of(const Instance& instance) {
  return instance.merged ? instance.merged->operators : instance;
}

// Policies of the published architecture place groups where operators are merged, as published.
bool places_groups(const Policy& policy, const Instance& instance) {
  return instance.merged && policy.architecture() == Architecture::kPlaceto;
}

class Grader {
 public:
  Grader(const Instance& instance, const Policy& policy, const EvaluateOptions& options)
      : instance_(instance),
        problem_(*operators_of(instance).problem),
        policy_(policy),
        options_(options),
        operators_(problem_, by_default_),
        evaluator_(operators_.move_evaluator()) {
    operators_.hierarchy();  // what all searches share is in the time of none
    if (places_groups(policy, instance)) groups_.emplace(*instance.problem, by_default_);
  }

  // Sets everything but what the problem is.
  bool run(Graded& graded) {
    if (!find_start()) return false;
    if (options_.heuristics) run_heuristics();
    if (options_.baselines) run_baselines();
    run_sampling();
    const Status fits = run_policy();
    graded.unfit = fits.message();
    if (options_.search_seconds > 0) run_timed_search();
    for (const uint64_t budget : options_.budgets) run_searches(budget, fits.ok());
    for (uint32_t i = 0; i < options_.long_searches; ++i) long_search(i, fits.ok());
    graded.outcomes = std::move(outcomes_);
    return true;
  }

 private:
  bool find_start() {
    const ProcessorTime watch;
    Result<PlaceResult> found = place_auto(problem_, {});
    if (!found.ok()) return false;
    start_ = std::move(found->best);
    start_ms_ = watch.milliseconds();
    outcomes_.push_back({{Approach::kAuto}, start_.score.objective_us, start_ms_, 0});
    placed_ = start_;
    placed_ms_ = start_ms_;
    return true;
  }

  void run_method(Approach approach, const Method& method, const MethodOptions& options = {},
                  uint64_t evaluations = 0) {
    const ProcessorTime watch;
    const Result<Candidate> candidate = method.place(problem_, options);
    const bool fits = candidate.ok() && candidate->score.feasible();
    outcomes_.push_back({{approach, std::string(method.name())},
                         fits ? candidate->score.objective_us : kInfinity,
                         watch.milliseconds(),
                         evaluations});
  }

  void run_heuristics() {
    for (const Method* method : builtin_methods()) {
      if (method->in_auto()) run_method(Approach::kHeuristic, *method);
    }
  }

  void run_baselines() {
    run_method(Approach::kBaseline, random_method());
    run_method(Approach::kBaseline, expert_method());
    for (const Method* method : partition_methods()) {
      // They run in child processes, whose time is known for all children together.
      static std::mutex one_at_a_time;
      const std::lock_guard lock(one_at_a_time);
      const ChildrensTime watch;
      run_method(Approach::kBaseline, *method);
      outcomes_.back().milliseconds += watch.milliseconds();
    }
    MethodOptions annealing;
    annealing.budget.evaluations =
        options_.budgets.empty()
            ? 1'000
            : *std::max_element(options_.budgets.begin(), options_.budgets.end());
    run_method(Approach::kBaseline, anneal_method(), annealing, annealing.budget.evaluations);
  }

  void run_timed_search() {
    const ProcessorTime watch;
    MethodOptions options;
    options.budget.milliseconds = options_.search_seconds * 1'000;
    const Result<PlaceResult> placed = place_auto(problem_, options);
    const auto length = static_cast<uint64_t>(options.budget.milliseconds);
    outcomes_.push_back({{Approach::kTimedSearch, "", length},
                         placed.ok() ? placed->best.score.objective_us : kInfinity,
                         watch.milliseconds(),
                         std::nullopt});
  }

  // Placers that are trained on the problem itself.
  void run_sampling() {
    if (options_.rnn_placements > 0) {
      grade_sampling("rnn", options_.rnn_placements, [&] {
        return Result<Sampled>(place_by_rnn(
            instance_, {.placements = options_.rnn_placements, .seed = options_.sampling_seed}));
      });
    }
    if (options_.hierarchical_placements > 0) {
      grade_sampling("hierarchical", options_.hierarchical_placements, [&] {
        return Result<Sampled>(place_by_hierarchy(
            operators_of(instance_),
            {.placements = options_.hierarchical_placements, .seed = options_.sampling_seed}));
      });
    }
    if (options_.trained_placements > 0) {
      grade_sampling("trained", options_.trained_placements, [&] {
        return place_by_training(
            instance_, {.placements = options_.trained_placements, .seed = options_.sampling_seed});
      });
    }
  }

  // After a tenth, a third and all of its placements, which may be more than were asked for: the
  // published method samples whole iterations. Nothing where it cannot place.
  void grade_sampling(const char* name, uint64_t placements, auto place) {
    const ProcessorTime watch;
    const Result<Sampled> sampled = place();
    if (!sampled.ok()) return;
    const double ms = watch.milliseconds();
    const uint64_t all = sampled->curve.back().placements;
    for (const uint32_t part : {10u, 3u, 1u}) {
      if (placements / part == 0) continue;
      const uint64_t count = part == 1 ? all : placements / part;
      const Sampled::Point best = sampled->best_within(count);
      outcomes_.push_back({{Approach::kSampled, name, count},
                           best.best_us,
                           ms * double(count) / double(all),
                           count,
                           best.placements});
    }
  }

  bool is_whole() const { return options_.whole || problem_.is_staged(); }

  // What `place` makes of the problem, which may be all that is measured (outcome.h). Errors: why
  // it leaves the policy out.
  Status place_whole(const Way& way, const Policy* policy, uint64_t evaluations, uint64_t seed) {
    const ProcessorTime watch;
    MethodOptions options;
    options.budget.evaluations = evaluations;
    options.seed = seed;
    const Result<PlaceResult> placed = place_auto(problem_, options, {.policy = policy});
    if (!placed.ok()) return placed.status();
    if (!placed->note.empty()) return Status::invalid(placed->note);
    std::optional<uint64_t> counted;
    if (policy == nullptr) counted = evaluations;
    outcomes_.push_back({way, placed->best.score.objective_us, watch.milliseconds(), counted});
    return {};
  }

  // Its passes, from the best heuristic placement of what it places. Errors: why it cannot.
  Status run_policy() {
    if (is_whole()) return place_whole({Approach::kPolicy}, &policy_, 0, 1);
    const ProcessorTime watch;
    Workbench& bench = groups_ ? *groups_ : operators_;
    Result<std::unique_ptr<PolicyGuide>> guide =
        make_policy_guide(policy_, bench, KernelChoice::kPortable);
    if (!guide.ok()) return guide.status();
    guide_ = std::move(*guide);
    Candidate start = start_;
    if (groups_) {
      Result<PlaceResult> found = place_auto(bench.problem(), {});
      if (!found.ok()) return {};
      start = std::move(found->best);
    }
    MoveEvaluator& evaluator = bench.move_evaluator();
    Candidate placed = guide_->place(start, {.passes = options_.passes}, evaluator);
    if (groups_) {
      placed.assignment = place_operators(instance_, placed.assignment);
      placed.score = operators_.evaluator().evaluate(placed.assignment);
    }
    placed_ms_ = (groups_ ? 0 : start_ms_) + watch.milliseconds();
    placed_evaluations_ = evaluator.evaluations();
    outcomes_.push_back({{Approach::kPolicy},
                         placed.score.feasible() ? placed.score.objective_us : kInfinity,
                         placed_ms_,
                         placed_evaluations_});
    if (placed.score < start_.score) placed_ = std::move(placed);
    return {};
  }

  void run_searches(uint64_t budget, bool fits) {
    if (options_.unguided) search({Approach::kSearch, "", budget}, false, budget, 1);
    if (fits) search({Approach::kPolicyThenSearch, "", budget}, true, budget, 1);
  }

  // The search that `place` makes for latency, by itself: `place` also regroups before it, polishes
  // what it has met at marks, and begins with the best as it was before it was last
  // polished (runtime/placer/step_search.cpp).
  void search(const Way& way, bool after_policy, uint64_t evaluations, uint64_t seed) {
    if (is_whole()) {
      // It fails by nothing that `auto` and the policy have not failed by before.
      (void)place_whole(way, after_policy ? &policy_ : nullptr, evaluations, seed);
      return;
    }
    const ProcessorTime watch;
    Budget budget;
    budget.evaluations = evaluations;
    Candidate found = after_policy ? placed_ : start_;
    const double before_ms = after_policy ? placed_ms_ : start_ms_;
    adaptive_search(operators_.hierarchy(), budget, seed, evaluator_, found);
    const uint64_t spent = evaluations + (after_policy ? placed_evaluations_ : 0);
    outcomes_.push_back({way, found.score.objective_us, before_ms + watch.milliseconds(), spent});
  }

  // In turn multilevel annealing by moves of groups alone, and `search` after the policy; or
  // annealing every time. Where all of `place` is measured, in turn without the policy and with it.
  void long_search(uint32_t number, bool fits) {
    const Way way{Approach::kLongSearch, "", number + 1};
    const uint64_t evaluations = options_.long_evaluations, seed = 100 + number;
    const bool anneals = number % 2 == 0 || options_.annealings;
    if (!anneals || is_whole()) return search(way, !anneals && fits, evaluations, seed);
    const ProcessorTime watch;
    Budget budget;
    budget.evaluations = evaluations;
    Candidate found = start_;
    multilevel_search(operators_.hierarchy(), budget, seed, evaluator_, found);
    outcomes_.push_back(
        {way, found.score.objective_us, start_ms_ + watch.milliseconds(), evaluations});
  }

  const Instance& instance_;
  const Problem& problem_;  // of the operators
  const Policy& policy_;
  const EvaluateOptions& options_;
  const MethodOptions by_default_ = {};
  Workbench operators_;
  std::optional<Workbench> groups_;  // what the policy places, if not operators
  MoveEvaluator& evaluator_;         // of operators
  std::unique_ptr<PolicyGuide> guide_;
  Candidate start_, placed_;  // by `auto`; the better of that and what the policy ends in
  double start_ms_ = 0, placed_ms_ = 0;
  uint64_t placed_evaluations_ = 0;
  std::vector<Outcome> outcomes_;
};

}  // namespace

double Graded::makespan_us(const Way& way) const {
  const auto it = std::find_if(outcomes.begin(), outcomes.end(),
                               [&](const Outcome& o) { return o.way == way; });
  return it == outcomes.end() ? std::numeric_limits<double>::quiet_NaN() : it->makespan_us;
}

std::optional<Graded> grade(const Instance& instance, const Policy& policy,
                            const EvaluateOptions& options) {
  Graded graded;
  if (!Grader(instance, policy, options).run(graded)) return std::nullopt;
  const Instance& operators = operators_of(instance);
  graded.family = instance.family;
  graded.topology = operators.problem->topology().name();
  graded.nodes = operators.problem->node_count();
  graded.devices = operators.problem->device_count();
  graded.ccr = instance.ccr;
  graded.best_known_us = kInfinity;
  for (const Outcome& o : graded.outcomes) {
    graded.best_known_us = std::min(graded.best_known_us, o.makespan_us);
  }
  return graded;
}

Graded combine(std::vector<Graded> graded, const std::vector<std::string>& policies) {
  Graded all = graded[0];
  all.outcomes.clear();
  for (size_t p = 0; p < graded.size(); ++p) {
    for (Outcome o : graded[p].outcomes) {
      if (o.way.uses_policy()) {
        o.way.policy = policies[p];
      } else if (p > 0) {
        continue;
      }
      all.outcomes.push_back(std::move(o));
    }
    all.best_known_us = std::min(all.best_known_us, graded[p].best_known_us);
    if (p > 0 && !graded[p].unfit.empty())
      all.unfit += (all.unfit.empty() ? "" : "; ") + graded[p].unfit;
  }
  return all;
}

}  // namespace placeto::train
