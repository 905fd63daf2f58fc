// Dense layers on each implementation, message passing, and loading a policy.
#include <benchmark/benchmark.h>

#include <string>
#include <vector>

#include "runtime/base/random.h"
#include "runtime/policy/file/policy.h"
#include "runtime/policy/file/policy_file.h"
#include "runtime/policy/net/dense_portable.h"
#include "tests/unit/policy_fixture.h"

namespace {

using namespace placeto;

struct Dense {
  Dense(uint32_t rows, uint32_t inputs, uint32_t outputs)
      : random(1),
        weights(fixture::weights(size_t{inputs} * outputs, random)),
        bias(fixture::weights(outputs, random)),
        x(fixture::weights(size_t{rows} * inputs, random)),
        y(size_t{rows} * outputs),
        layer{inputs, outputs, weights.data(), bias.data(), Activation::kRelu} {}
  Random random;
  std::vector<float> weights, bias, x, y;
  DenseLayer layer;
};

void portable(benchmark::State& state, PortableDense variant) {
  const auto rows = static_cast<uint32_t>(state.range(0));
  Dense d(rows, static_cast<uint32_t>(state.range(1)), static_cast<uint32_t>(state.range(2)));
  for (auto _ : state) {
    variant.run(d.layer, d.x.data(), d.layer.inputs, d.y.data(), d.layer.outputs, rows);
    benchmark::ClobberMemory();
  }
}

void kernels(benchmark::State& state, KernelChoice choice) {
  const auto rows = static_cast<uint32_t>(state.range(0));
  Dense d(rows, static_cast<uint32_t>(state.range(1)), static_cast<uint32_t>(state.range(2)));
  Kernels kernels(choice);
  for (auto _ : state) {
    kernels.dense(d.layer, d.x.data(), d.layer.inputs, d.y.data(), d.layer.outputs, rows);
    benchmark::ClobberMemory();
  }
}

void first_primitive(benchmark::State& state) {
  Kernels kernels(KernelChoice::kOneDnn);
  uint32_t rows = 1;
  Dense d(4096, 32, 32);
  for (auto _ : state) {
    if (kernels.cached_primitives() == Kernels::kMaxPrimitives) {
      state.PauseTiming();
      kernels = Kernels(KernelChoice::kOneDnn);
      state.ResumeTiming();
    }
    // oneDNN has a cache of its own, over the whole process: only new shapes are new to it.
    rows = rows % 4096 + 1;
    kernels.dense(d.layer, d.x.data(), 32, d.y.data(), 32, rows);
  }
}

// A local graph of that many nodes with two predecessors each, embedding 32, four rounds.
void graph_network(benchmark::State& state, KernelChoice choice) {
  const auto nodes = static_cast<uint32_t>(state.range(0));
  PolicySpec spec = fixture::pairwise();
  spec.dimensions = {.embedding = 32,
                     .rounds = 4,
                     .devices = 0,
                     .encoder_hidden = {32},
                     .message_hidden = {32},
                     .pool_hidden = {},
                     .head_hidden = {32}};
  fixture::fill_tensors(spec, 1);
  const auto policy = *Policy::load(*encode_policy(spec), Policy::Bytes::kCopy, fixture::kKnown);
  std::vector<uint32_t> offset{0}, before, after;
  for (uint32_t v = 0; v < nodes; ++v) {
    for (const uint32_t distance : {1u, 7u}) {
      before.push_back(v < distance ? 0 : v - distance);
      after.push_back(v + distance < nodes ? v + distance : nodes - 1);
    }
    offset.push_back(static_cast<uint32_t>(before.size()));
  }
  Random random(2);
  const std::vector<float> features = fixture::weights(size_t{nodes} * 2, random);
  std::vector<float> x(size_t{nodes} * 32);
  Kernels kernels(choice);
  Workspace workspace;
  const GraphNetwork& network = policy->graph_network();
  network.plan(nodes, workspace);
  for (auto _ : state) {
    network.embed(features.data(), 2, {offset, before}, {offset, after}, x.data(), kernels,
                  workspace);
    benchmark::ClobberMemory();
  }
}

// 186 KB: what a policy file may take.
void load_policy(benchmark::State& state, Policy::Bytes mode) {
  PolicySpec spec = fixture::pairwise();
  spec.dimensions = {.embedding = 64,
                     .rounds = 4,
                     .devices = 0,
                     .encoder_hidden = {64},
                     .message_hidden = {64},
                     .pool_hidden = {},
                     .head_hidden = {64, 64}};
  fixture::fill_tensors(spec, 1);
  const std::vector<uint8_t> bytes = *encode_policy(spec);
  for (auto _ : state) {
    auto policy = Policy::load(bytes, mode, fixture::kKnown);
    benchmark::DoNotOptimize(policy);
  }
  state.SetBytesProcessed(state.iterations() * static_cast<int64_t>(bytes.size()));
}

void shapes(benchmark::internal::Benchmark* b) {
  for (const int width : {16, 32, 64}) {
    for (const int rows : {1, 8, 64, 512, 4096}) b->Args({rows, width, width});
  }
}

// The variants are only known at run time.
const bool registered = [] {
  for (const PortableDense& variant : portable_dense_variants()) {
    const std::string name = std::string("dense/portable_") + variant.name;
    shapes(benchmark::RegisterBenchmark(name.c_str(), portable, variant));
  }
  if (Kernels::onednn_available()) {
    shapes(benchmark::RegisterBenchmark("dense/onednn", kernels, KernelChoice::kOneDnn));
  }
  shapes(benchmark::RegisterBenchmark("dense/auto", kernels, KernelChoice::kAuto));
  return true;
}();

BENCHMARK(first_primitive);
BENCHMARK_CAPTURE(graph_network, portable, KernelChoice::kPortable)
    ->Arg(417)
    ->Arg(1000)
    ->Arg(100000);
BENCHMARK_CAPTURE(graph_network, auto, KernelChoice::kAuto) -> Arg(417) -> Arg(1000) -> Arg(100000);
BENCHMARK_CAPTURE(load_policy, copy, Policy::Bytes::kCopy);
BENCHMARK_CAPTURE(load_policy, view, Policy::Bytes::kView);

}  // namespace
