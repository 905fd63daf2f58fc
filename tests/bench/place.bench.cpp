// How long each method takes to place a graph, `auto` with and without a search, and how much
// memory placing takes.
#include <benchmark/benchmark.h>

#include <string>

#include "runtime/placer/methods.h"
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

// One output that everything else reads, 80 readers for each device: what looked at all readers for
// each device that it is sent to would take longer for each node, the more devices there are.
void place_star(benchmark::State& state) {
  const auto devices = static_cast<uint32_t>(state.range(0)), readers = 80 * devices;
  Random random(1);
  GraphSpec graph;
  graph.nodes.resize(1 + readers);
  graph.nodes[0].cost_us = {10};
  graph.nodes[0].outputs = {1'000};
  for (uint32_t v = 1; v <= readers; ++v) {
    graph.nodes[v].cost_us = {5 + 45 * random.uniform()};
    graph.edges.push_back({0, 0, v});
  }
  TopologySpec topology = k80_devices(devices);
  topology.transfer = Transfer::kUnicast;
  const Case c(std::move(graph), std::move(topology));
  for (auto _ : state) {
    benchmark::DoNotOptimize(place_auto(c.problem, {}).ok());
  }
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
BENCHMARK(place_star)->ArgName("devices")->Arg(50)->Arg(250)->Unit(benchmark::kMillisecond);

}  // namespace
