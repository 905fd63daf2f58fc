// From a graph file on disk to a graph ready for use.
#include <benchmark/benchmark.h>
#include <unistd.h>

#include <filesystem>
#include <string>

#include "tests/bench/cases.h"
#include "tools/io/read.h"
#include "tools/io/write.h"

namespace {

using namespace placeto;
using namespace placeto::bench;

void load_graph(benchmark::State& state, Encoding encoding) {
  const auto nodes = static_cast<uint32_t>(state.range(0));
  const std::string path = std::filesystem::temp_directory_path() /
                           ("placeto-bench-" + std::to_string(getpid()) + ".graph");
  const Status written = write_output(path, require(encoded(layered_graph(nodes), encoding)));
  if (!written.ok()) {
    state.SkipWithError(written.message().c_str());
    return;
  }
  for (auto _ : state) {
    benchmark::DoNotOptimize(require(read_graph(path)).node_count());
  }
  state.SetBytesProcessed(state.iterations() *
                          static_cast<int64_t>(std::filesystem::file_size(path)));
  std::filesystem::remove(path);
}

BENCHMARK_CAPTURE(load_graph, binary, Encoding::kBinary)
    ->ArgName("nodes")
    ->Arg(1'000)
    ->Arg(100'000)
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(load_graph, json, Encoding::kJson)
    ->ArgName("nodes")
    ->Arg(1'000)
    ->Arg(100'000)
    ->Unit(benchmark::kMillisecond);

}  // namespace
