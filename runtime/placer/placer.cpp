#include "runtime/placer/placer.h"

#include <algorithm>
#include <chrono>
#include <memory>
#include <optional>

#include "runtime/base/message.h"
#include "runtime/heuristics/heuristics.h"
#include "runtime/policy/pairwise/policy_pass.h"
#include "runtime/policy/published/placeto_pass.h"
#include "runtime/search/search.h"

namespace placeto {
namespace {

// Evaluations spent on getting under the memory limits when no candidate fits: fewer on large
// graphs, where each takes longer, so that an infeasible answer takes seconds and not minutes.
uint64_t repair_evaluations(const Graph& graph) {
  constexpr uint64_t kMost = 3'000, kLeast = 100, kWork = 30'000'000;
  return std::clamp(kWork / (uint64_t{graph.node_count()} + graph.edge_count()), kLeast, kMost);
}

class Stopwatch {
 public:
  double elapsed_us() const {
    return std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - start_)
        .count();
  }

 private:
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

const Candidate& best_of(const std::vector<Candidate>& candidates) {
  return *std::min_element(
      candidates.begin(), candidates.end(),
      [](const Candidate& a, const Candidate& b) { return a.score < b.score; });
}

Status infeasible(const Problem& problem, const Candidate& closest,
                  std::span<const uint64_t> shortfall) {
  std::string text = "no placement fits in memory; the closest (" + closest.method + ") lacks";
  for (uint32_t d = 0; d < problem.device_count(); ++d) {
    if (shortfall[d] == 0) continue;
    text += " " + std::to_string(shortfall[d]) + " bytes on " + problem.topology().device(d).name +
            " (limit " + std::to_string(problem.memory_limit(d)) + "),";
  }
  text.pop_back();
  return Status::infeasible(text);
}

// There is no time to simulate the best again.
void leave_timeline_out(const Problem& problem, PlaceResult& result) {
  const bool latency = problem.objective() == Objective::kLatency;
  result.timeline = {};
  (latency ? result.timeline.makespan_us : result.timeline.bottleneck_us) =
      result.best.score.objective_us;
  result.stopped = true;
  result.simulated = false;
}

Result<PlaceResult> conclude(const Problem& problem, std::vector<Candidate> candidates,
                             const Budget& budget, const Stopwatch& watch,
                             std::vector<uint64_t>* shortfall_bytes) {
  Stop* const stop = budget.stop;
  PlaceResult result;
  result.best = best_of(candidates);
  result.candidates = std::move(candidates);
  result.stopped = stopped(stop);
  if (result.stopped && !result.best.score.feasible()) return Status::stopped();
  // What takes about a millisecond is done all the same.
  constexpr uint32_t kSmall = 4'000;
  const Graph& graph = problem.graph();
  const bool small = uint64_t{graph.node_count()} + graph.edge_count() <= kSmall;
  Stop* const limit = small ? nullptr : stop;
  Evaluator evaluator(problem, limit);
  result.timeline = std::move(evaluator).take_timeline(result.best.assignment);
  if (stopped(limit)) {
    leave_timeline_out(problem, result);
    result.place_us = watch.elapsed_us();
    return result;
  }
  if (!result.best.score.feasible()) {
    std::vector<uint64_t> shortfall = memory_shortfall(problem, result.timeline.peak_memory_bytes);
    Status status = infeasible(problem, result.best, shortfall);
    if (shortfall_bytes != nullptr) *shortfall_bytes = std::move(shortfall);
    return status;
  }
  result.bounds = lower_bounds(problem, limit);
  if (stopped(limit)) {
    result.bounds = {};
    result.stopped = true;
  }
  result.place_us = watch.elapsed_us();
  return result;
}

// Whatever placer the policy's architecture needs, built once per placing.
class PolicyGuide {
 public:
  static Result<PolicyGuide> build(const Problem& problem, const Hierarchy& hierarchy,
                                   const Policy& policy, const PolicyUse& use, Stop* stop) {
    PolicyGuide guide;
    guide.observer_ = use.observer;
    if (policy.architecture() == Architecture::kPairwise) {
      guide.pairwise_ = std::make_unique<PolicyPlacer>(policy, problem, hierarchy, use.kernels);
      return guide;
    }
    if (problem.node_count() > kMostPlacetoNodes) {
      return Status::invalid(join(
          {"the placeto architecture simulates the graph at every step: ", problem.node_count(),
           " nodes, expected at most ", kMostPlacetoNodes}));
    }
    if (Status s = PlacetoPlacer::check(policy, problem); !s.ok()) return s;
    guide.placeto_ = std::make_unique<PlacetoPlacer>(policy, problem, use.kernels, stop);
    return guide;
  }

  // The best of the greedy placement and options.samples drawn ones.
  Candidate place(const Candidate& start, const MethodOptions& options, MoveEvaluator& evaluator) {
    Candidate best = place_once(start, 0, std::nullopt, evaluator);
    Random seeds(options.seed);
    for (uint32_t sample = 1; sample <= options.samples && !stopped(evaluator.stop()); ++sample) {
      Candidate drawn = place_once(start, sample, seeds.next(), evaluator);
      if (drawn.score < best.score) best = std::move(drawn);
    }
    return best;
  }
  // nullptr: the architecture cannot rank moves of groups.
  ProposalRanker* ranker() { return pairwise_.get(); }

 private:
  // A pass takes nodes x simulation time: seconds from here on.
  static constexpr uint32_t kMostPlacetoNodes = 10'000;
  // Scores of `pairwise` are changes of the logarithm of the makespan, a few thousandths as a rule;
  // logits of `placeto` are what the softmax was trained with.
  static constexpr float kPairwiseTemperature = 0.002f, kPlacetoTemperature = 1;

  // Greedy without a seed.
  Candidate place_once(const Candidate& start, uint32_t sample, std::optional<uint64_t> seed,
                       MoveEvaluator& evaluator) {
    const auto run = [&](auto& placer, auto passes, float temperature) {
      if (observer_ != nullptr) {
        passes.on_step = [this, sample](const auto& step) { observer_->see(sample, step); };
      }
      if (seed) passes.temperature = temperature;
      passes.seed = seed.value_or(0);
      return placer.place(start, passes, evaluator);
    };
    PolicyPassOptions passes;
    passes.passes = passes_that_pay(evaluator.problem().node_count());
    return pairwise_ ? run(*pairwise_, passes, kPairwiseTemperature)
                     : run(*placeto_, PlacetoPassOptions{}, kPlacetoTemperature);
  }

  PolicyObserver* observer_ = nullptr;
  std::unique_ptr<PolicyPlacer> pairwise_;
  std::unique_ptr<PlacetoPlacer> placeto_;
};

// Adds what a search made of the best candidate; if that is no better, the table needs no row.
void add_if_better(Candidate found, const char* name, std::vector<Candidate>& candidates) {
  if (!(found.score < best_of(candidates).score)) return;
  found.method = name;
  candidates.push_back(std::move(found));
}

// A search for less overflow. By moves alone: passes have shown that they do not get there.
void repair(const Hierarchy& hierarchy, const MethodOptions& options, MoveEvaluator& evaluator,
            std::vector<Candidate>& candidates) {
  Budget budget;
  budget.evaluations = repair_evaluations(evaluator.problem().graph());
  Candidate found = best_of(candidates);
  multilevel_search(hierarchy, budget, options.seed, evaluator, found);
  add_if_better(std::move(found), "repair", candidates);
}

// What the last heuristic makes for itself, and policy and search after it use. The hierarchy is
// there unless stopped before; the evaluator, where it was needed.
struct Workbench {
  std::optional<Hierarchy> hierarchy;
  std::optional<MoveEvaluator> evaluator;
};

Result<std::vector<Candidate>> heuristic_candidates(const Problem& problem,
                                                    const MethodOptions& options,
                                                    Workbench& workbench) {
  Stop* const stop = options.budget.stop;
  Evaluator evaluator(problem, stop);
  std::vector<Candidate> candidates = place_on_each_device(problem, evaluator);
  if (candidates.empty()) return Status::stopped();
  const auto add = [&](Result<Candidate> candidate) {
    if (candidate.status().code() == StatusCode::kStopped) return Status();
    if (!candidate.ok()) return candidate.status();
    candidates.push_back(std::move(*candidate));
    return Status();
  };
  for (const Method* method : {&contiguous_method(), &heft_method(), &etf_method()}) {
    if (stopped(stop)) return candidates;
    if (Status added = add(method->place(problem, options)); !added.ok()) return added;
  }
  if (stopped(stop)) return candidates;
  workbench.hierarchy.emplace(problem, stop, options.grouping);
  if (stopped(stop)) return candidates;
  const Assignment etf = candidates.back().assignment;
  const Status added =
      add(iterate_from(problem, *workbench.hierarchy, etf, options, workbench.evaluator));
  if (!added.ok()) return added;
  return candidates;
}

}  // namespace

Result<PlaceResult> place_auto(const Problem& problem, const MethodOptions& options,
                               const Policy* policy, std::vector<uint64_t>* shortfall_bytes,
                               const PolicyUse& use) {
  const Stopwatch watch;
  Workbench workbench;
  Result<std::vector<Candidate>> tried = heuristic_candidates(problem, options, workbench);
  if (!tried.ok()) return tried.status();
  std::vector<Candidate>& candidates = *tried;
  const bool infeasible_so_far = !best_of(candidates).score.feasible();
  Stop* const stop = options.budget.stop;
  const bool nothing_left = !infeasible_so_far && !options.budget.limited() && policy == nullptr;
  if (nothing_left || stopped(stop)) {
    return conclude(problem, std::move(candidates), options.budget, watch, shortfall_bytes);
  }
  const Hierarchy& hierarchy = *workbench.hierarchy;
  if (!workbench.evaluator) workbench.evaluator.emplace(problem, stop);
  if (stopped(stop)) {
    return conclude(problem, std::move(candidates), options.budget, watch, shortfall_bytes);
  }
  MoveEvaluator& evaluator = *workbench.evaluator;
  if (infeasible_so_far) repair(hierarchy, options, evaluator, candidates);
  std::string note;
  std::optional<PolicyGuide> guide;
  if (policy != nullptr && !stopped(stop)) {
    Result<PolicyGuide> built = PolicyGuide::build(problem, hierarchy, *policy, use, stop);
    if (built.ok()) {
      guide = std::move(*built);
      candidates.push_back(guide->place(best_of(candidates), options, evaluator));
    } else {
      note = built.status().message();
    }
  }
  if (options.budget.limited() && !stopped(stop)) {
    Candidate found = best_of(candidates);
    adaptive_search(hierarchy, options.budget, options.seed, evaluator, found,
                    guide ? guide->ranker() : nullptr);
    add_if_better(std::move(found), "search", candidates);
  }
  Result<PlaceResult> result =
      conclude(problem, std::move(candidates), options.budget, watch, shortfall_bytes);
  if (result.ok()) result->note = std::move(note);
  return result;
}

Result<PlaceResult> place_policy(const Problem& problem, const MethodOptions& options,
                                 const Policy& policy, std::vector<uint64_t>* shortfall_bytes,
                                 const PolicyUse& use) {
  const Stopwatch watch;
  Stop* const stop = options.budget.stop;
  Workbench workbench;
  Result<std::vector<Candidate>> tried = heuristic_candidates(problem, options, workbench);
  if (!tried.ok()) return tried.status();
  if (stopped(stop)) return Status::stopped();
  Result<PolicyGuide> guide = PolicyGuide::build(problem, *workbench.hierarchy, policy, use, stop);
  if (!guide.ok()) return guide.status();
  if (!workbench.evaluator) workbench.evaluator.emplace(problem, stop);
  std::vector<Candidate> placed;
  placed.push_back(guide->place(best_of(*tried), options, *workbench.evaluator));
  return conclude(problem, std::move(placed), options.budget, watch, shortfall_bytes);
}

Result<PlaceResult> place_with(const Problem& problem, const Method& method,
                               const MethodOptions& options,
                               std::vector<uint64_t>* shortfall_bytes) {
  const Stopwatch watch;
  Result<Candidate> candidate = method.place(problem, options);
  if (!candidate.ok()) return candidate.status();
  std::vector<Candidate> candidates;
  candidates.push_back(std::move(*candidate));
  return conclude(problem, std::move(candidates), options.budget, watch, shortfall_bytes);
}

}  // namespace placeto
