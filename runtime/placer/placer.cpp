#include "runtime/placer/placer.h"

#include <algorithm>
#include <chrono>

#include "runtime/heuristics/heuristics.h"
#include "runtime/heuristics/search.h"

namespace placeto {
namespace {

// Evaluations spent on getting under the memory limits when no candidate fits.
constexpr uint64_t kRepairEvaluations = 3'000;

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

Status infeasible(const Problem& problem, const Candidate& closest, const Timeline& timeline) {
  const std::vector<uint64_t> shortfall = memory_shortfall(problem, timeline.peak_memory_bytes);
  std::string text = "no placement fits in memory; the closest (" + closest.method + ") lacks";
  for (uint32_t d = 0; d < problem.device_count(); ++d) {
    if (shortfall[d] == 0) continue;
    text += " " + std::to_string(shortfall[d]) + " bytes on " + problem.topology().device(d).name +
            " (limit " + std::to_string(problem.memory_limit(d)) + "),";
  }
  text.pop_back();
  return Status::infeasible(text);
}

Result<PlaceResult> conclude(const Problem& problem, std::vector<Candidate> candidates,
                             const Stopwatch& watch) {
  PlaceResult result;
  result.best = best_of(candidates);
  result.candidates = std::move(candidates);
  Evaluator evaluator(problem);
  result.timeline = evaluator.timeline(result.best.assignment);
  if (!result.best.score.feasible()) return infeasible(problem, result.best, result.timeline);
  result.bounds = lower_bounds(problem);
  result.place_us = watch.elapsed_us();
  return result;
}

void search_from_best(const Problem& problem, const Budget& budget, const MethodOptions& options,
                      const char* name, std::vector<Candidate>& candidates) {
  Candidate improved = best_of(candidates);
  const Score before = improved.score;
  const Hierarchy hierarchy(problem);
  MoveEvaluator evaluator(problem);
  multilevel_search(problem, hierarchy, budget, options.seed, evaluator, improved);
  if (!(improved.score < before)) return;  // nothing to add to the table
  improved.method = name;
  candidates.push_back(std::move(improved));
}

}  // namespace

Result<PlaceResult> place_auto(const Problem& problem, const MethodOptions& options) {
  const Stopwatch watch;
  Evaluator evaluator(problem);
  std::vector<Candidate> candidates = place_on_each_device(problem, evaluator);
  for (const Method* method :
       {&contiguous_method(), &heft_method(), &etf_method(), &iterate_method()}) {
    Result<Candidate> candidate = method->place(problem, options);
    if (!candidate.ok()) return candidate.status();
    candidates.push_back(std::move(*candidate));
  }
  if (!best_of(candidates).score.feasible()) {
    Budget repair;
    repair.evaluations = kRepairEvaluations;
    repair.cancel = options.budget.cancel;
    search_from_best(problem, repair, options, "repair", candidates);
  }
  if (options.budget.limited()) {
    search_from_best(problem, options.budget, options, "search", candidates);
  }
  return conclude(problem, std::move(candidates), watch);
}

Result<PlaceResult> place_with(const Problem& problem, const Method& method,
                               const MethodOptions& options) {
  const Stopwatch watch;
  Result<Candidate> candidate = method.place(problem, options);
  if (!candidate.ok()) return candidate.status();
  std::vector<Candidate> candidates;
  candidates.push_back(std::move(*candidate));
  return conclude(problem, std::move(candidates), watch);
}

}  // namespace placeto
