#include "runtime/placer/policy_guide.h"

#include "runtime/base/message.h"

namespace placeto {
namespace {

// A pass takes nodes x simulation time: seconds from here on.
constexpr uint32_t kMostPlacetoNodes = 10'000;

// Scores of `pairwise` are changes of the logarithm of the makespan, a few thousandths as a rule;
// logits of `placeto` are what the softmax was trained with.
constexpr float kPairwiseTemperature = 0.002f, kPlacetoTemperature = 1;

}  // namespace

Result<PolicyGuide> PolicyGuide::build(Workbench& bench, const PlacerOptions& options) {
  const Policy& policy = *options.policy;
  const Problem& problem = bench.problem();
  PolicyGuide guide;
  guide.observer_ = options.observer;
  if (policy.architecture() == Architecture::kPairwise) {
    guide.pairwise_ =
        std::make_unique<PolicyPlacer>(policy, problem, bench.hierarchy(), options.kernels);
    return guide;
  }
  if (problem.node_count() > kMostPlacetoNodes) {
    return Status::invalid(
        join({"the placeto architecture simulates the graph at every step: ", problem.node_count(),
              " nodes, expected at most ", kMostPlacetoNodes}));
  }
  if (Status s = PlacetoPlacer::check(policy, problem); !s.ok()) return s;
  guide.placeto_ = std::make_unique<PlacetoPlacer>(policy, problem, options.kernels, bench.stop());
  return guide;
}

Candidate PolicyGuide::place(Workbench& bench) {
  MoveEvaluator& evaluator = bench.move_evaluator();
  const MethodOptions& options = bench.options();
  const Candidate& start = bench.best();
  Candidate best = place_once(start, 0, std::nullopt, evaluator);
  Random seeds(options.seed);
  for (uint32_t sample = 1; sample <= options.samples && !stopped(bench.stop()); ++sample) {
    Candidate drawn = place_once(start, sample, seeds.next(), evaluator);
    if (drawn.score < best.score) best = std::move(drawn);
  }
  return best;
}

// Greedy without a seed.
Candidate PolicyGuide::place_once(const Candidate& start, uint32_t sample,
                                  std::optional<uint64_t> seed, MoveEvaluator& evaluator) {
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

}  // namespace placeto
