// Placing with a policy, as a host does it: rules compiled, heuristics, passes of the policy; with
// and without reading the files first.
#include <benchmark/benchmark.h>
#include <unistd.h>

#include <filesystem>
#include <string>

#include "runtime/placer/placer.h"
#include "runtime/policy/guide.h"
#include "tests/bench/cases.h"
#include "tests/bench/heap.h"
#include "tests/support/small_policies.h"
#include "tools/io/read.h"
#include "tools/io/write.h"

namespace {

using namespace placeto;
using namespace placeto::bench;

using SharedPolicy = std::shared_ptr<const Policy>;

// The trained policy that ships, and one whose weights are written down.
SharedPolicy shipped_policy() {
  return require(read_policy(PLACETO_MODELS "/default.plpo"));
}
SharedPolicy small_policy() {
  return test::load_policy(test::small_pairwise_policy());
}

// Graph, topology and policy are loaded. "heap_mb": most memory held at once beyond them.
void place_by_policy(benchmark::State& state, SharedPolicy (*load)()) {
  const Case c(static_cast<uint32_t>(state.range(0)), static_cast<uint32_t>(state.range(1)));
  const SharedPolicy policy = load();
  const size_t before = heap_bytes();
  reset_heap_peak();
  for (auto _ : state) {
    const Problem problem = require(Problem::build(c.graph, c.topology));
    benchmark::DoNotOptimize(place_auto(problem, {}, {.policy = policy.get()}).ok());
  }
  state.counters["heap_mb"] = static_cast<double>(heap_peak_bytes() - before) / 1e6;
}

// From three files to a placement.
void load_and_place(benchmark::State& state) {
  const auto nodes = static_cast<uint32_t>(state.range(0));
  const auto devices = static_cast<uint32_t>(state.range(1));
  const std::string base =
      std::filesystem::temp_directory_path() / ("placeto-bench-" + std::to_string(getpid()));
  const std::string graph_path = base + ".graph", topology_path = base + ".topology";
  Status written = write_graph(graph_path, layered_graph(nodes));
  if (written.ok()) {
    written = write_topology(topology_path, k80_devices(devices));
  }
  if (!written.ok()) {
    state.SkipWithError(written.message().c_str());
    return;
  }
  for (auto _ : state) {
    const SharedPolicy policy = shipped_policy();
    const Graph graph = require(read_graph(graph_path));
    const Topology topology = require(read_topology(topology_path));
    const Problem problem = require(Problem::build(graph, topology));
    benchmark::DoNotOptimize(place_auto(problem, {}, {.policy = policy.get()}).ok());
  }
  std::filesystem::remove(graph_path);
  std::filesystem::remove(topology_path);
}

// Mapped, verified, ready.
void load_shipped_policy(benchmark::State& state) {
  for (auto _ : state) {
    benchmark::DoNotOptimize(
        Policy::load_file(PLACETO_MODELS "/default.plpo", Policy::File::kMap, known_features())
            .ok());
  }
}

void policy_sizes(benchmark::internal::Benchmark* b) {
  b->ArgNames({"nodes", "devices"})->Unit(benchmark::kMillisecond);
  b->Args({417, 4})->Args({1'000, 8})->Args({100'000, 8});
}

BENCHMARK_CAPTURE(place_by_policy, shipped, shipped_policy)->Apply(policy_sizes);
BENCHMARK_CAPTURE(place_by_policy, written_down, small_policy)->Apply(policy_sizes);
BENCHMARK(load_and_place)
    ->ArgNames({"nodes", "devices"})
    ->Args({1'000, 8})
    ->Unit(benchmark::kMillisecond);
BENCHMARK(load_shipped_policy)->Unit(benchmark::kMillisecond);

}  // namespace
