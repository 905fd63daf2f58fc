// Leaps and passes of the policy.
#include "runtime/placer/step_functions.h"

#include "runtime/base/random.h"

namespace placeto {
Status place_by_policy(const Step&, Placing& placing) {
  if (!ready(placing.bench)) return {};
  if (Status s = make_guide(placing); !s.ok()) {
    placing.note = s.message();
    return {};
  }
  leap_by_policy(placing);
  placing.bench.add(guided_candidate(placing));
  return {};
}

Status make_guide(Placing& placing) {
  Result<std::unique_ptr<PolicyGuide>> guide =
      make_policy_guide(*placing.options.policy, placing.bench, placing.options.kernels);
  if (guide.ok()) placing.guide = std::move(*guide);
  return guide.status();
}

void leap_by_policy(Placing& placing) {
  constexpr uint32_t kMost = 3;
  Workbench& bench = placing.bench;
  for (uint32_t i = 0; i < kMost; ++i) {
    const Score before = bench.best().score;
    std::optional<Candidate> leapt = placing.guide->leap(bench.best(), bench.move_evaluator());
    if (!leapt || leapt->assignment == bench.best().assignment) return;
    move_from(std::move(*leapt), kPolicyAlone, placing);
    if (!(bench.best().score < before) || stopped(bench.stop())) return;
  }
}

Candidate guided_candidate(Placing& placing) {
  Workbench& bench = placing.bench;
  uint32_t sample = 0;
  PolicyPasses passes;
  if (PolicyObserver* const observer = placing.options.observer; observer != nullptr) {
    passes.on_step = [observer, &sample, stop = bench.stop()](const PolicyStep& step) {
      observer->see(sample, step);
      if (stop != nullptr) stop->requested();  // however long that took
    };
  }
  Candidate best;
  for (const Candidate& start : starts(bench)) {
    Candidate placed = placing.guide->place(start, passes, bench.move_evaluator());
    if (best.assignment.empty() || placed.score < best.score) best = std::move(placed);
  }
  Random seeds(bench.options().seed);
  while (sample < bench.options().samples && !stopped(bench.stop())) {
    ++sample;
    passes.seed = seeds.next();
    Candidate drawn = placing.guide->place(bench.best(), passes, bench.move_evaluator());
    if (drawn.score < best.score) best = std::move(drawn);
  }
  return best;
}

}  // namespace placeto
