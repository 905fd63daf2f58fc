// A file of any binary format, told apart by content: a FlatBuffer whose tables may share, overlap
// and hold numbers at the edges (mutate.h makes them), or an ONNX model. What its own target
// accepts of a graph or a topology is placed, by every method, with the largest and smallest
// numbers on the other side.
#include <numeric>

#include "runtime/format/file_kind.h"
#include "runtime/format/graph_file.h"
#include "runtime/format/topology_file.h"
#include "tests/fuzz/check.h"
#include "tests/fuzz/judge.h"
#include "tests/fuzz/targets.h"
#include "tests/support/random_problem.h"
#include "tests/support/small_policies.h"

namespace placeto::fuzz {
namespace {

// What a test has time for.
constexpr uint32_t kPlaceableNodes = 48, kPlaceableEdges = 400, kPlaceableDevices = 6;

// The same for the same bytes.
Random random_of(const std::vector<uint8_t>& bytes) {
  return Random(std::accumulate(bytes.begin(), bytes.end(), uint64_t{bytes.size()},
                                [](uint64_t sum, uint8_t byte) { return 31 * sum + byte; }));
}

template <class T, size_t N>
T one_of(const T (&values)[N], Random& random) {
  return values[random.below(N)];
}

LinkParameters some_link(Random& random) {
  constexpr double kBandwidths[] = {1e-59, 1e-9, 1, 10, 1e15, 1e52};
  constexpr double kTimes[] = {0, 0, 1, 1e-60, 1e30};
  LinkParameters link;
  link.bandwidth_bytes_per_us = one_of(kBandwidths, random);
  link.latency_us = one_of(kTimes, random);
  link.gap_us = one_of(kTimes, random);
  return link;
}

// Devices of the kinds that the graph names.
TopologySpec some_topology(const Graph& graph, Random& random) {
  constexpr uint64_t kMemory[] = {0, 0, 1, 1 << 20, uint64_t{1} << 62, ~uint64_t{0}};
  constexpr double kSlowdowns[] = {1, 1, 1e-30, 1e30};
  TopologySpec spec;
  test::set_rules(random.below(test::kRuleSets), spec);
  spec.default_link = some_link(random);
  const size_t kinds = graph.kinds().size();
  for (uint32_t d = 0; d < 2 + random.below(kPlaceableDevices - 1); ++d) {
    DeviceSpec& device = spec.devices.emplace_back();
    device.name = "d" + std::to_string(d);
    device.kind = kinds == 0 ? "gpu" : graph.kinds()[d % kinds];
    device.memory_bytes = one_of(kMemory, random);
    device.slowdown = one_of(kSlowdowns, random);
    device.peak_flops = 1e12;
    device.memory_bandwidth = 1e11;
  }
  spec.links.push_back({"d0", "d1", some_link(random), ""});
  return spec;
}

// Nodes that any device may run, some for nothing.
GraphSpec some_graph(Random& random) {
  constexpr double kCosts[] = {0, 1, 5, 1e-60, 1e30};
  constexpr uint64_t kBytes[] = {0, 1, 1000, 0xffffffff, uint64_t{1} << 53, uint64_t{1} << 58};
  GraphSpec spec;
  const uint32_t nodes = 2 + random.below(12);
  for (uint32_t v = 0; v < nodes; ++v) {
    NodeSpec& node = spec.nodes.emplace_back();
    node.name = "n" + std::to_string(v);
    node.cost_us = {one_of(kCosts, random)};
    node.outputs = {one_of(kBytes, random)};
    node.resident_bytes = one_of(kBytes, random);
    if (v > 0) spec.edges.push_back({random.below(v), 0, v});
  }
  return spec;
}

void place(const Graph& graph, const Topology& topology, Random& random) {
  static const auto policy = test::load_policy(test::small_pairwise_policy());
  if (graph.node_count() > kPlaceableNodes || graph.edge_count() > kPlaceableEdges) return;
  if (topology.device_count() > kPlaceableDevices) return;
  const auto problem = Problem::build(graph, topology);
  if (!problem.ok()) return check_refused(problem.status());
  MethodOptions options;
  options.seed = random.below(100);
  options.passes = 1;
  options.budget.evaluations = 1 + random.below(20);
  judge(*problem, options, {.policy = random.below(2) == 0 ? policy.get() : nullptr});
}

void place_graph(const std::vector<uint8_t>& bytes) {
  Random random = random_of(bytes);
  const auto graph = Graph::build(*decode_graph(bytes));
  const auto topology = Topology::build(some_topology(*graph, random));
  if (topology.ok()) place(*graph, *topology, random);  // a kind's name may not suit
}

void place_on(const std::vector<uint8_t>& bytes) {
  Random random = random_of(bytes);
  const auto topology = Topology::build(*decode_topology(bytes));
  const auto graph = Graph::build(some_graph(random));
  check(graph.ok(), "a plain graph builds");
  place(*graph, *topology, random);
}

int run_model([[maybe_unused]] const std::vector<uint8_t>& bytes) {
#ifdef PLACETO_HAVE_ONNX
  if (fuzz_onnx(bytes.data(), bytes.size()) == 0) return 0;
  std::vector<uint8_t> placed = {3, 0, 1, 2, 0, 2, 1, 1};  // see export.cpp
  placed.insert(placed.end(), bytes.begin(), bytes.end());
  (void)fuzz_export(placed.data(), placed.size());
  return 1;
#else
  return 0;
#endif
}

}  // namespace

int fuzz_structures(const uint8_t* data, size_t size) {
  const std::vector<uint8_t> bytes = own_copy(data, size);
  switch (detect(bytes)) {
    case FileKind::kGraph:
      if (fuzz_graph(data, size) == 0) return 0;
      return place_graph(bytes), 1;
    case FileKind::kTopology:
      if (fuzz_topology(data, size) == 0) return 0;
      return place_on(bytes), 1;
    case FileKind::kPlacement:
      return fuzz_placement(data, size);
    case FileKind::kPolicy:
      return fuzz_policy(data, size);
    case FileKind::kUnknown:
      break;
  }
  return run_model(bytes);
}

}  // namespace placeto::fuzz
