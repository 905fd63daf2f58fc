// The `mixed` distribution.
//
// Random graphs have one cost for all kinds or, on topologies with several kinds, a cost for each
// whose ratio differs from node to node. Named networks run on devices that state their peak rates;
// their ratio of communication to computation follows from the link, drawn over the whole range of
// real ones (10 Gbit/s Ethernet to NVLink).
#include "trainer/data/problems.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "tools/workloads/workload.h"

namespace placeto::train {
namespace {

constexpr const char* kFamilies[] = {"layered", "series_parallel", "fork_join", "erdos"};

double log_uniform(double least, double most, Random& random) {
  return least * std::exp(std::log(most / least) * random.uniform());
}

uint32_t whole_log_uniform(uint32_t least, uint32_t most, Random& random) {
  return static_cast<uint32_t>(std::lround(log_uniform(least, most, random)));
}

GraphSpec random_graph(const std::string& family, uint32_t nodes, double ccr, Random& random) {
  WorkloadOptions options;
  options.nodes = nodes;
  options.ccr = ccr;
  options.seed = random.next();
  if (family == "layered") {
    options.width = whole_log_uniform(2, std::max(3u, uint32_t(std::sqrt(nodes)) * 2), random);
  } else if (family == "fork_join") {
    options.width = whole_log_uniform(2, 16, random);
  } else if (family == "erdos") {
    options.degree = 1 + random.below(4);
  }
  return *generate(family, options);
}

// Small variants: the structure of the published networks, fewer layers or steps where that is an
// option.
GraphSpec named_network(const DataConfig& config, Random& random, std::string& family) {
  constexpr const char* kNetworks[] = {
      "inception_v3", "nmt",      "bert_base", "gpt2",
      "enas_cifar10", "enas_ptb", "resnet50",  "mixture_of_experts"};
  while (true) {
    family = kNetworks[random.below(std::size(kNetworks))];
    WorkloadOptions options;
    options.training = random.below(3) == 0;
    options.batch = 1u << random.below(7);
    if (family == "nmt") {
      options.layers = 2 + random.below(3);
      options.length = 3 + random.below(8);
    } else if (family == "enas_cifar10") {
      options.layers = 1 + random.below(2);
    } else if (family == "enas_ptb") {
      options.layers = 4 + random.below(8);
      options.length = 3 + random.below(8);
    } else if (family == "mixture_of_experts") {
      options.layers = 2 + random.below(3);
      options.experts = 2 + random.below(6);
    }
    if (family.starts_with("enas")) options.seed = 1 + random.below(1'000'000);
    Result<GraphSpec> graph = generate(family, options);
    if (!graph.ok() || graph->nodes.size() > config.max_network_nodes) continue;
    if (options.training) family += " training";
    return std::move(*graph);
  }
}

void add_links_of_their_own(TopologySpec& topology, Random& random) {
  const auto n = static_cast<uint32_t>(topology.devices.size());
  const bool two_hosts = random.below(2) == 0;
  const double factor = two_hosts ? log_uniform(0.05, 0.5, random) : 1;
  if (two_hosts) topology.transfer = Transfer::kUnicast;  // a broadcast would leave by its egress
  for (uint32_t a = 0; a < n; ++a) {
    for (uint32_t b = 0; b < n; ++b) {
      if (a == b || (two_hosts && (a < n / 2) == (b < n / 2))) continue;
      LinkSpec link{topology.devices[a].name, topology.devices[b].name, topology.default_link, ""};
      const double own = two_hosts ? factor : log_uniform(0.3, 3, random);
      link.parameters.bandwidth_bytes_per_us *= own;
      if (two_hosts) link.channel = a < n / 2 ? "uplink 0" : "uplink 1";
      topology.links.push_back(link);
    }
  }
}

// Wirings of machines that nobody planned as a whole. Those of the test sets (ring, bus, pairs with
// an uplink; trainer/data/test_sets.cpp) are not among them.
void wire_irregularly(TopologySpec& topology, Random& random) {
  const auto n = static_cast<uint32_t>(topology.devices.size());
  const uint32_t kind = random.below(3);
  const uint32_t channels = 2 + random.below(n - 1);
  std::vector<double> adapter;
  for (uint32_t d = 0; d < n; ++d) adapter.push_back(log_uniform(0.15, 3, random));
  if (kind == 2) topology.transfer = Transfer::kUnicast;
  for (uint32_t a = 0; a < n; ++a) {
    for (uint32_t b = 0; b < n; ++b) {
      if (a == b) continue;
      LinkSpec link{topology.devices[a].name, topology.devices[b].name, topology.default_link, ""};
      double factor = 1;
      if (kind == 0) {  // every device has its own adapter
        factor = std::min(adapter[a], adapter[b]);
      } else if (kind == 1) {  // some pairs have a bridge
        factor = random.uniform() < 0.3 ? log_uniform(3, 10, random) : 0.7;
      } else {  // links share a few channels at random
        link.channel = "shared " + std::to_string(random.below(channels));
      }
      link.parameters.bandwidth_bytes_per_us *= factor;
      topology.links.push_back(link);
    }
  }
}

// `network`: bandwidths of real links; else the reference of the ratio of communication to
// computation.
TopologySpec draw_topology(const DataConfig& config, bool network, Random& random) {
  TopologySpec topology;
  topology.name = "drawn";
  const uint32_t n = 2 + random.below(config.max_devices - 1);
  const bool unlike = random.uniform() < config.unlike_share;
  topology.op_gap_us = random.below(2) == 0 ? 0 : 5.7;
  topology.transfer = random.below(2) == 0 ? Transfer::kBroadcast : Transfer::kUnicast;
  topology.dispatch = random.below(4) == 0 ? Dispatch::kPriority : Dispatch::kFifo;
  topology.default_link.bandwidth_bytes_per_us =
      network ? log_uniform(1'000, 100'000, random) : kReferenceBandwidth;
  topology.default_link.gap_us = random.below(2) == 0 ? 0 : 25;
  topology.default_link.latency_us = random.below(2) == 0 ? 0 : 10;
  const bool kinds = unlike && random.below(2) == 0;
  const bool slower = unlike && (!kinds || random.below(3) == 0);
  for (uint32_t d = 0; d < n; ++d) {
    DeviceSpec device;
    const bool cpu = kinds && d >= (n + 1) / 2;
    device.kind = cpu ? "cpu" : "gpu";
    device.name = device.kind + ":" + std::to_string(d);
    device.peak_flops = cpu ? 1.5e12 : 15e12;
    device.memory_bandwidth = cpu ? 200e9 : 800e9;
    if (slower && random.below(2) == 0) device.slowdown = 1 + random.uniform() * 2;
    topology.devices.push_back(device);
  }
  if (unlike && n > 2 && random.below(2) == 0) {
    add_links_of_their_own(topology, random);
  } else if (config.irregular_share > 0 && n > 2 && random.uniform() < config.irregular_share) {
    wire_irregularly(topology, random);
  }
  return topology;
}

bool has_kind(const TopologySpec& topology, const char* kind) {
  return std::any_of(topology.devices.begin(), topology.devices.end(),
                     [kind](const DeviceSpec& d) { return d.kind == kind; });
}

// A cost for each kind: some nodes suffer more from the slower kind than others.
void cost_kinds(GraphSpec& graph, Random& random) {
  graph.kinds = {"gpu", "cpu"};
  const double factor = log_uniform(1.5, 6, random);
  for (NodeSpec& node : graph.nodes) {
    node.cost_us.push_back(node.cost_us[0] * factor * log_uniform(0.5, 2, random));
  }
}

// Every device gets its share of everything the graph holds, times 1.1 (tight) to 2.5.
void limit_memory(GraphSpec& graph, TopologySpec& topology, Random& random) {
  double total = 0;
  for (NodeSpec& node : graph.nodes) {
    if (!node.cost_us.empty()) {  // a random graph
      node.resident_bytes = static_cast<uint64_t>(1e6 * log_uniform(0.1, 10, random));
    }
    total += static_cast<double>(node.resident_bytes);
    for (const uint64_t bytes : node.outputs) total += static_cast<double>(bytes) * 0.3;
  }
  const double share = log_uniform(1.1, 2.5, random) / double(topology.devices.size());
  for (DeviceSpec& device : topology.devices) {
    device.memory_bytes = static_cast<uint64_t>(total * share) + 1;
  }
}

bool finish(Instance& instance, GraphSpec graph, TopologySpec topology) {
  Result<Instance> made = make_instance(instance.family, std::move(graph), std::move(topology));
  if (!made.ok()) return false;
  made->ccr = instance.ccr;
  instance = std::move(*made);
  return true;
}

bool draw_on(Instance& instance, const DataConfig& config, const std::string& family,
             uint32_t nodes, Random& random) {
  instance.family = family;
  instance.ccr = log_uniform(config.min_ccr, config.max_ccr, random);
  GraphSpec graph = random_graph(family, nodes, instance.ccr, random);
  TopologySpec topology = draw_topology(config, false, random);
  if (has_kind(topology, "cpu")) cost_kinds(graph, random);
  if (random.uniform() < config.memory_share) limit_memory(graph, topology, random);
  return finish(instance, std::move(graph), std::move(topology));
}

}  // namespace

Result<Instance> make_instance(std::string family, GraphSpec graph, TopologySpec topology) {
  Result<Graph> built = Graph::build(std::move(graph));
  if (!built.ok()) return built.status();
  Result<Topology> devices = Topology::build(std::move(topology));
  if (!devices.ok()) return devices.status();
  Instance instance;
  instance.family = std::move(family);
  instance.graph = std::make_unique<Graph>(std::move(*built));
  instance.topology = std::make_unique<Topology>(std::move(*devices));
  Result<Problem> problem = Problem::build(*instance.graph, *instance.topology);
  if (!problem.ok()) return problem.status();
  instance.problem = std::make_unique<Problem>(std::move(*problem));
  return instance;
}

uint64_t problem_seed(Split split, uint64_t seed, uint64_t index) {
  const uint64_t stream = split == Split::kTest ? 0 : seed;
  Random random(stream * 3 + static_cast<uint64_t>(split));
  return Random(random.next() ^ (index * 0xd1342543de82ef95u)).next();
}

Instance draw_problem(const DataConfig& config, uint64_t seed) {
  Random random(seed);
  Instance instance;
  while (true) {
    bool good = false;
    if (random.uniform() < config.network_share) {
      GraphSpec graph = named_network(config, random, instance.family);
      TopologySpec topology = draw_topology(config, true, random);
      instance.ccr = 0;
      if (random.uniform() < config.memory_share) limit_memory(graph, topology, random);
      good = finish(instance, std::move(graph), std::move(topology));
    } else {
      const uint32_t nodes = random.uniform() < config.large_share
                                 ? config.large_nodes
                                 : whole_log_uniform(config.min_nodes, config.max_nodes, random);
      good = draw_on(instance, config, kFamilies[random.below(4)], nodes, random);
    }
    if (good) return instance;
  }
}

Instance draw_with_devices(const DataConfig& config, Split split, uint64_t seed, uint64_t first,
                           uint64_t step) {
  DataConfig data = config;
  data.max_devices = data.devices;
  for (uint64_t n = first;; n += step) {
    Instance instance = draw_problem(data, problem_seed(split, seed, n));
    if (instance.problem->device_count() == data.devices) return instance;
  }
}

}  // namespace placeto::train
