// What the passes weigh differs from pass to pass, by chance: a pass that repeats the one before
// repeats it for ever, and no rule is best everywhere.
#include "runtime/heuristics/passes.h"

#include <algorithm>

#include "runtime/heuristics/tuning.h"
#include "runtime/timeline/latest_starts.h"
#include "runtime/timeline/order.h"

namespace placeto {
Passes::Passes(Evaluator& evaluator, uint64_t seed)
    : problem_(&evaluator.problem()),
      stop_(evaluator.stop()),
      random_(seed),
      evaluator_(evaluator),
      builder_(*problem_, stop_) {}

void Passes::begin() {
  Chain& chain = chains_.emplace_back();
  chain.last.order =
      order_by(problem_->graph(), problem_->upward_rank(), Direction::kDescending, stop_);
}

void Passes::begin(std::string method, const Assignment& start) {
  Candidate candidate{std::move(method), start, evaluator_.evaluate(start)};
  if (!stopped(stop_)) add(chains_.emplace_back(), std::move(candidate));
}

void Passes::run(const std::string& method) {
  for (Chain& chain : chains_) {
    if (stopped(stop_)) return;
    extend(chain, method);
  }
}

void Passes::extend(Chain& chain, const std::string& method) {
  const bool from_best = random_.uniform() < tuning::kFromBest && !chain.best.assignment.empty();
  const Point& from = from_best ? chain.best : chain.last;
  const PassRule rule = PassRule::draw(random_);
  Candidate candidate = place_within_memory(*problem_, evaluator_, method, [&](MemoryPlan& plan) {
    return builder_.place_all(from.order, {from.assignment, from.latest_start_us}, rule, plan);
  });
  if (!candidate.assignment.empty()) add(chain, std::move(candidate));
}

// Takes over a candidate whose timeline is the evaluator's last one.
void Passes::add(Chain& chain, Candidate candidate) {
  if (!problem_->is_for_latency()) evaluator_.timeline(candidate.assignment);
  chain.last.score = candidate.score;
  chain.last.assignment = candidate.assignment;
  chain.last.order =
      order_by(problem_->graph(), evaluator_.start_us(), Direction::kAscending, stop_);
  if (!stopped(stop_)) {
    find_latest_starts({*problem_, chain.last.assignment, chain.last.order, evaluator_.start_us(),
                        evaluator_.finish_us()},
                       chain.last.latest_start_us, stop_);
  }
  if (chain.best.assignment.empty() || chain.last.score < chain.best.score) {
    chain.best = chain.last;
  }
  if (best_.assignment.empty() || candidate.score < best_.score) best_ = std::move(candidate);
}

}  // namespace placeto
