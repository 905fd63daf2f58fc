// How long each method takes to place a graph, `auto` with and without a search, and how much
// memory placing takes.
#include <benchmark/benchmark.h>

#include <string>

#include "runtime/heuristics/heuristics.h"
#include "runtime/placer/placer.h"
#include "tests/bench/cases.h"
#include "tests/bench/heap.h"
#include "tools/partition/partition.h"

namespace {

using namespace placeto;
using namespace placeto::bench;

constexpr uint32_t kDevices = 8;

void place_by(benchmark::State& state, const Method* method) {
  const Case c(static_cast<uint32_t>(state.range(0)), kDevices);
  for (auto _ : state) {
    benchmark::DoNotOptimize(method->place(c.problem, {}).ok());
  }
}

// "heap_mb": most memory held at once beyond graph, topology and problem.
void place_by_auto(benchmark::State& state, uint64_t evaluations) {
  const Case c(static_cast<uint32_t>(state.range(0)), kDevices);
  MethodOptions options;
  options.budget.evaluations = evaluations;
  const size_t before = heap_bytes();
  reset_heap_peak();
  for (auto _ : state) {
    benchmark::DoNotOptimize(place_auto(c.problem, options).ok());
  }
  state.counters["heap_mb"] = static_cast<double>(heap_peak_bytes() - before) / 1e6;
}

// What must be built before anything can be placed.
void build_problem(benchmark::State& state) {
  const GraphSpec spec = layered_graph(static_cast<uint32_t>(state.range(0)));
  const Topology topology = require(Topology::build(k80_devices(kDevices)));
  for (auto _ : state) {
    const Graph graph = require(Graph::build(spec));
    benchmark::DoNotOptimize(Problem::build(graph, topology).ok());
  }
}

void sizes(benchmark::internal::Benchmark* b) {
  for (const int nodes : {100, 1'000, 10'000}) b->Arg(nodes);
  b->ArgName("nodes")->Unit(benchmark::kMillisecond);
}

// The methods are only known at run time.
const bool methods_registered = [] {
  const auto builtin = builtin_methods();
  using Methods = std::span<const Method* const>;
  for (const Methods methods : {Methods(builtin), partition_methods()}) {
    for (const Method* method : methods) {
      const std::string name = "place/" + std::string(method->name());
      sizes(benchmark::RegisterBenchmark(name.c_str(), place_by, method));
    }
  }
  sizes(benchmark::RegisterBenchmark("place/auto", place_by_auto, 0));
  sizes(benchmark::RegisterBenchmark("place/auto_1000_evaluations", place_by_auto, 1'000));
  return true;
}();

BENCHMARK(build_problem)->Apply(sizes);

}  // namespace
