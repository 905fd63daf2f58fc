// Passes of the published architecture, and what a step consists of.
#include <benchmark/benchmark.h>

#include "runtime/policy/published/pass.h"
#include "tests/bench/cases.h"
#include "tests/support/small_policies.h"

namespace {

using namespace placeto;
using namespace placeto::bench;

constexpr uint32_t kRounds = 8;

// Arguments: nodes, devices. Published widths; seeded
// weights, which move nearly every node, so that nearly every step simulates.
struct Pass {
  explicit Pass(const benchmark::State& state)
      : c(static_cast<uint32_t>(state.range(0)), static_cast<uint32_t>(state.range(1))),
        policy(test::load_policy(
            test::published_placeto_policy(c.problem.device_count(), kRounds, true, 1))),
        start{"start", Assignment(c.problem.node_count(), 0), {}},
        evaluator(c.problem) {
    start.score = evaluator.rebase(start.assignment);
  }
  Case c;
  std::shared_ptr<const Policy> policy;
  Candidate start;
  MoveEvaluator evaluator;
};

void placeto_pass(benchmark::State& state) {
  Pass p(state);
  for (auto _ : state) {
    PublishedPlacer placer(*p.policy, p.c.problem);
    benchmark::DoNotOptimize(placer.place(p.start, {}, p.evaluator).score.objective_us);
  }
}

// All steps of a pass without deciding anything: features and networks.
void placeto_scores(benchmark::State& state) {
  Pass p(state);
  PublishedFeatures features(p.c.problem);
  PublishedScorer scorer(*p.policy, p.c.problem, KernelChoice::kPortable);
  features.begin_pass(p.start.assignment);
  for (auto _ : state) {
    for (uint32_t v = 0; v < p.c.problem.node_count(); ++v) {
      features.begin_step(v, p.evaluator.start_us());
      benchmark::DoNotOptimize(scorer.score(features).data());
    }
  }
}

// The sets of every node: reachability of a whole pass.
void placeto_reach(benchmark::State& state) {
  const Pass p(state);
  PublishedReach reach(p.c.graph);
  for (auto _ : state) {
    for (uint32_t v = 0; v < p.c.problem.node_count(); ++v) {
      reach.find(v);
      benchmark::DoNotOptimize(reach.unrelated().size());
    }
  }
}

void arguments(benchmark::internal::Benchmark* b) {
  b->ArgNames({"nodes", "devices"})->Unit(benchmark::kMillisecond);
  b->Args({417, 4})->Args({417, 8})->Args({1'000, 8});
}

BENCHMARK(placeto_pass)->Apply(arguments);
BENCHMARK(placeto_scores)->Apply(arguments);
BENCHMARK(placeto_reach)->Args({417, 4})->Args({1'000, 8})->Unit(benchmark::kMillisecond);

}  // namespace
