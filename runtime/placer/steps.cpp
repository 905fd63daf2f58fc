#include "runtime/placer/steps.h"

#include <algorithm>

#include "runtime/base/random.h"
#include "runtime/heuristics/heuristics.h"
#include "runtime/search/search.h"

namespace placeto {
namespace {

bool always(const Placing&) {
  return true;
}
bool nothing_fits(const Placing& placing) {
  return !placing.bench.best().score.feasible();
}
bool has_policy(const Placing& placing) {
  return placing.options.policy != nullptr;
}
bool has_budget(const Placing& placing) {
  return placing.bench.options().budget.limited();
}

Status run_heuristic(const Step& step, Placing& placing) {
  const Status added = step.method->add_to(placing.bench);
  return added.code() == StatusCode::kStopped ? Status() : added;
}

// Evaluations spent on getting under the memory limits: fewer on large graphs, where each takes
// longer, so that an infeasible answer takes seconds and not minutes.
uint64_t repair_evaluations(const Graph& graph) {
  constexpr uint64_t kMost = 3'000, kLeast = 100, kWork = 30'000'000;
  return std::clamp(kWork / (uint64_t{graph.node_count()} + graph.edge_count()), kLeast, kMost);
}

// What the steps after the heuristics need; false if there is no time left to make it.
bool ready(Workbench& bench) {
  bench.hierarchy();
  if (!stopped(bench.stop())) bench.move_evaluator();
  return !stopped(bench.stop());
}

// By moves alone: passes have shown that they do not get there.
Status repair(const Step& step, Placing& placing) {
  Workbench& bench = placing.bench;
  if (!ready(bench)) return {};
  Budget budget;
  budget.evaluations = repair_evaluations(bench.problem().graph());
  Candidate found = bench.best();
  found.method = step.name;
  multilevel_search(bench.hierarchy(), budget, bench.options().seed, bench.move_evaluator(), found);
  bench.add_if_better(std::move(found));
  return {};
}

Status place_by_policy(const Step&, Placing& placing) {
  if (!ready(placing.bench)) return {};
  if (Status s = make_guide(placing); !s.ok()) {
    placing.note = s.message();
    return {};
  }
  placing.bench.add(guided_candidate(placing));
  return {};
}

Status search(const Step& step, Placing& placing) {
  Workbench& bench = placing.bench;
  if (!ready(bench)) return {};
  Candidate found = bench.best();
  found.method = step.name;
  adaptive_search(bench.hierarchy(), bench.options().budget, bench.options().seed,
                  bench.move_evaluator(), found, placing.guide ? placing.guide->ranker() : nullptr);
  bench.add_if_better(std::move(found));
  return {};
}

}  // namespace

Status make_guide(Placing& placing) {
  Result<std::unique_ptr<PolicyGuide>> guide =
      make_policy_guide(*placing.options.policy, placing.bench, placing.options.kernels);
  if (guide.ok()) placing.guide = std::move(*guide);
  return guide.status();
}

Candidate guided_candidate(Placing& placing) {
  Workbench& bench = placing.bench;
  const Candidate& start = bench.best();
  uint32_t sample = 0;
  PolicyPasses passes;
  if (PolicyObserver* const observer = placing.options.observer; observer != nullptr) {
    passes.on_step = [observer, &sample](const PolicyStep& step) { observer->see(sample, step); };
  }
  Candidate best = placing.guide->place(start, passes, bench.move_evaluator());
  Random seeds(bench.options().seed);
  while (sample < bench.options().samples && !stopped(bench.stop())) {
    ++sample;
    passes.seed = seeds.next();
    Candidate drawn = placing.guide->place(start, passes, bench.move_evaluator());
    if (drawn.score < best.score) best = std::move(drawn);
  }
  return best;
}

std::vector<Step> auto_steps() {
  std::vector<Step> steps;
  for (const Method* method : builtin_methods()) {
    if (!method->in_auto()) continue;
    steps.push_back({method->name(), method->summary(), kAlways, always, run_heuristic, method});
  }
  steps.insert(steps.end(), {{"repair", "moves of groups, towards less overflow of memory",
                              "where nothing fits", nothing_fits, repair},
                             {"policy", "the policy's passes, from the best so far",
                              "with a policy", has_policy, place_by_policy},
                             {"search", "annealing over moves and windows, from the best so far",
                              "with a budget", has_budget, search}});
  return steps;
}

}  // namespace placeto
