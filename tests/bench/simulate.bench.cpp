// Simulations per second, and what an incremental simulation saves.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <ctime>
#include <utility>

#include "runtime/cost/incremental.h"
#include "runtime/cost/simulator.h"
#include "runtime/search/search.h"
#include "tests/bench/cases.h"

namespace {

using namespace placeto;
using namespace placeto::bench;

// One makespan of a random placement; "items" are simulations.
void simulate(benchmark::State& state) {
  const Case c(static_cast<uint32_t>(state.range(0)), static_cast<uint32_t>(state.range(1)));
  const std::vector<Assignment> placements = random_placements(c.problem, 1);
  Simulator simulator(c.problem);
  size_t i = 0;
  for (auto _ : state) {
    benchmark::DoNotOptimize(simulator.makespan_us(placements[i]));
    if (++i == placements.size()) i = 0;
  }
  state.SetItemsProcessed(state.iterations());
}

// The whole timeline, with transfers and memory.
void timeline(benchmark::State& state) {
  const Case c(static_cast<uint32_t>(state.range(0)), static_cast<uint32_t>(state.range(1)));
  const std::vector<Assignment> placements = random_placements(c.problem, 1);
  Simulator simulator(c.problem);
  size_t i = 0;
  for (auto _ : state) {
    double makespan_us = simulator.run(placements[i]).makespan_us;
    benchmark::DoNotOptimize(makespan_us);
    if (++i == placements.size()) i = 0;
  }
}

enum class Base { kRandom, kIterated };
enum class Cutoff { kNone, kBase };  // kBase: only improvements matter, as in a search

// Processor time of this thread: on a shared machine the wall clock also measures the neighbours.
class Timer {
 public:
  double lap_us() {
    const double now = now_us();
    const double lap = now - last_;
    last_ = now;
    return lap;
  }

 private:
  static double now_us() {
    timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return static_cast<double>(t.tv_sec) * 1e6 + static_cast<double>(t.tv_nsec) * 1e-3;
  }
  double last_ = now_us();
};

// Blocks of one-node changes of one placement: incrementally (the time reported) and, on the same
// changes in the same run, by full simulation. "change_us" and "full_us" are for one change, "gain"
// is their ratio.
void change_one_node(benchmark::State& state, Base base, Cutoff cutoff) {
  constexpr uint32_t kBlock = 32;  // changes between two looks at the clock
  const Case c(static_cast<uint32_t>(state.range(0)), static_cast<uint32_t>(state.range(1)));
  Random random(2);
  Assignment assignment = base == Base::kRandom
                              ? random_placement(c.problem, random)
                              : require(iterate_method().place(c.problem, {})).assignment;
  Simulator full(c.problem);
  IncrementalSimulator incremental(c.problem);
  const double makespan = incremental.rebase(assignment);
  const double limit = cutoff == Cutoff::kBase ? makespan : kNever;
  std::vector<Change> changes(kBlock);
  double full_us = 0, incremental_us = 0;
  for (auto _ : state) {
    for (Change& change : changes) {
      change.node = random.below(c.problem.node_count());
      const uint32_t other = 1 + random.below(c.problem.device_count() - 1);
      change.device = (assignment[change.node] + other) % c.problem.device_count();
    }
    Timer timer;
    for (const Change& change : changes) {
      benchmark::DoNotOptimize(incremental.evaluate({&change, 1}, limit));
    }
    const double lap = timer.lap_us();
    incremental_us += lap;
    state.SetIterationTime(lap * 1e-6);
    for (const Change& change : changes) {
      const uint32_t before = std::exchange(assignment[change.node], change.device);
      benchmark::DoNotOptimize(full.makespan_us(assignment));
      assignment[change.node] = before;
    }
    full_us += timer.lap_us();
  }
  const double count = static_cast<double>(state.iterations()) * kBlock;
  state.counters["change_us"] = incremental_us / count;
  state.counters["full_us"] = full_us / count;
  state.counters["gain"] = full_us / incremental_us;
}

// Beside the median: on a shared machine, the least disturbed repetition.
double least(const std::vector<double>& times) {
  return *std::min_element(times.begin(), times.end());
}

void simulated_sizes(benchmark::internal::Benchmark* b) {
  for (const int devices : {2, 8}) {
    for (const int nodes : {100, 1'000, 10'000, 100'000}) b->Args({nodes, devices});
  }
  b->ArgNames({"nodes", "devices"})->Unit(benchmark::kMicrosecond);
  b->ComputeStatistics("min", least);
}

void change_sizes(benchmark::internal::Benchmark* b) {
  for (const int nodes : {100, 1'000, 10'000}) b->Args({nodes, 8});
  b->ArgNames({"nodes", "devices"})->Unit(benchmark::kMicrosecond)->UseManualTime();
}

BENCHMARK(simulate)->Apply(simulated_sizes);
BENCHMARK(timeline)
    ->ArgNames({"nodes", "devices"})
    ->Args({1'000, 8})
    ->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(change_one_node, random_base, Base::kRandom, Cutoff::kNone)->Apply(change_sizes);
BENCHMARK_CAPTURE(change_one_node, random_base_cutoff, Base::kRandom, Cutoff::kBase)
    ->Apply(change_sizes);
BENCHMARK_CAPTURE(change_one_node, iterated_base, Base::kIterated, Cutoff::kNone)
    ->Apply(change_sizes);
BENCHMARK_CAPTURE(change_one_node, iterated_base_cutoff, Base::kIterated, Cutoff::kBase)
    ->Apply(change_sizes);

}  // namespace
