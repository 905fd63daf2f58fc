#include "trainer/data/families.h"

#include <algorithm>
#include <bit>
#include <cassert>

#include "tools/workloads/workload.h"
#include "trainer/data/merge.h"

namespace placeto::train {
namespace {

// Seeds of the architectures: seen from here on, unseen from the second on.
constexpr uint64_t kFirstSeed = 1'000, kFirstUnseenSeed = 2'000;

WorkloadOptions training_of(Half half, uint32_t index) {
  WorkloadOptions options;
  options.training = true;
  options.seed = (half == Half::kSeen ? kFirstSeed : kFirstUnseenSeed) + index;
  return options;
}

WorkloadOptions cifar10_options(Half half, uint32_t index) {
  WorkloadOptions options = training_of(half, index);
  options.layers = 1;
  options.batch = 128;
  return options;
}

WorkloadOptions ptb_options(Half half, uint32_t index) {
  WorkloadOptions options = training_of(half, index);
  options.layers = 8;
  options.length = 6;
  return options;
}

// The 32 combinations are the numbers of five bits; an even number of ones is seen. So both halves
// have every value, and every pair of values, of every option.
WorkloadOptions nmt_options(Half half, uint32_t index) {
  const bool odd = half == Half::kUnseen;
  const uint32_t bits = index << 1 | ((std::popcount(index) % 2 == 1) != odd ? 1u : 0u);
  constexpr uint32_t kLengths[] = {4, 6, 8, 10};
  WorkloadOptions options;
  options.training = true;
  options.length = kLengths[bits & 3];
  options.layers = (bits & 4) != 0 ? 4 : 2;
  options.batch = (bits & 8) != 0 ? 128 : 64;
  options.hidden = (bits & 16) != 0 ? 1'024 : 512;
  return options;
}

GraphSpec family_graph(std::string_view name, Half half, uint32_t index) {
  Result<GraphSpec> graph = name == "cifar10"
                                ? generate("enas_cifar10", cifar10_options(half, index))
                            : name == "ptb" ? generate("enas_ptb", ptb_options(half, index))
                                            : generate("nmt", nmt_options(half, index));
  assert(graph.ok());
  return std::move(*graph);
}

}  // namespace

bool is_family(std::string_view name) {
  return std::find(kFamilyNames.begin(), kFamilyNames.end(), name) != kFamilyNames.end();
}

TopologySpec k80_topology(uint32_t count) {
  TopologySpec topology;
  topology.name = std::to_string(count) + "xk80";
  topology.op_gap_us = 5.7;
  topology.default_link = {.bandwidth_bytes_per_us = 7'600, .latency_us = 0, .gap_us = 25};
  for (uint32_t d = 0; d < count; ++d) {
    topology.devices.push_back({.name = "gpu:" + std::to_string(d),
                                .kind = "gpu",
                                .memory_bytes = 12'000'000'000,
                                .peak_flops = 4.37e12,
                                .memory_bandwidth = 240e9});
  }
  return topology;
}

Instance family_problem(std::string_view name, Half half, uint32_t index,
                        const FamilyOptions& options) {
  assert(is_family(name) && index < kFamilyGraphs);
  Result<Instance> operators = make_instance(std::string(name), family_graph(name, half, index),
                                             k80_topology(options.devices));
  assert(operators.ok());
  if (options.groups == 0) return std::move(*operators);
  return merge_operators(std::move(*operators), options.groups);
}

}  // namespace placeto::train
