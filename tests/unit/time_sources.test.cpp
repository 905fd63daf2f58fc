// What is said of run times that come from unlike sources.
#include <doctest/doctest.h>

#include "runtime/graph/unused_times.h"
#include "tools/report/time_sources.h"

using namespace placeto;

namespace {

// Run times on "cpu" and "gpu"; `measured` as in NodeSpec, by node.
Graph with_times(const std::vector<uint64_t>& measured) {
  GraphSpec spec;
  spec.kinds = {"cpu", "gpu"};
  for (const uint64_t bits : measured) {
    NodeSpec node;
    node.name = std::to_string(spec.nodes.size());
    node.cost_us = {10, 1};
    node.measured = bits;
    spec.nodes.push_back(node);
  }
  return *Graph::build(spec);
}

// A device of each kind; "npu" has rates to estimate from, "fpga" has none.
Topology with_kinds(const std::vector<std::string>& kinds) {
  TopologySpec spec;
  spec.default_link.bandwidth_bytes_per_us = 100;
  for (const std::string& kind : kinds) {
    DeviceSpec device;
    device.name = kind + ":0";
    device.kind = kind;
    if (kind == "npu") device.peak_flops = device.memory_bandwidth = 1e9;
    spec.devices.push_back(device);
  }
  return *Topology::build(spec);
}

}  // namespace

TEST_CASE("run times on kinds of device are unlike if some were measured and others not") {
  const Topology both = with_kinds({"cpu", "gpu"});
  CHECK(unlike_times(with_times({1, 1}), both) == "cpu measured, gpu estimated");
  CHECK(unlike_times(with_times({3, 1}), both) == "cpu measured, gpu measured in part");
  CHECK(unlike_times(with_times({3, 3}), both) == "");
  CHECK(unlike_times(with_times({0, 0}), both) == "");  // nobody says where they are from
  CHECK(unlike_times(with_times({1, 1}), with_kinds({"cpu"})) == "");
  CHECK(unlike_times(with_times({1, 1}), with_kinds({"gpu"})) == "");
}

TEST_CASE("run times on kinds that a graph does not list are estimated, if rates are known") {
  const Graph graph = with_times({3, 3});
  CHECK(unlike_times(graph, with_kinds({"cpu", "npu"})) == "cpu measured, npu estimated");
  CHECK(unlike_times(graph, with_kinds({"cpu", "fpga"})) == "");
  CHECK(unlike_times(graph, with_kinds({"npu"})) == "");
  CHECK(unlike_times(with_times({0, 0}), with_kinds({"cpu", "npu"})) == "cpu given, npu estimated");
}

TEST_CASE("run times on kinds that no device has are told of where others have none") {
  const Graph graph = with_times({3, 3});  // on cpu and gpu
  CHECK(unused_times(graph, with_kinds({"CPU", "gpu"})) ==
        "run times on 'cpu' are not used: devices are of 'CPU' and 'gpu'");
  CHECK(unused_times(graph, with_kinds({"npu"})) ==
        "run times on 'cpu' and 'gpu' are not used: devices are of 'npu'");
  CHECK(unused_times(graph, with_kinds({"gpu"})) == "");
  CHECK(unused_times(graph, with_kinds({"cpu", "gpu", "npu"})) == "");
}

TEST_CASE("a device that lacks a rate is named with the nodes that it cannot run for it") {
  GraphSpec spec;
  for (const uint64_t flops : {0, 0, 10}) {
    NodeSpec node;
    node.name = std::to_string(spec.nodes.size());
    node.flops = flops;
    node.bytes_accessed = spec.nodes.empty() ? 0 : 8;
    spec.nodes.push_back(node);
  }
  const Graph graph = *Graph::build(spec);
  TopologySpec machine = with_kinds({"npu", "gpu"}).spec();
  DeviceSpec& gpu = machine.devices[1];
  gpu.peak_flops = gpu.memory_bandwidth = 1e9;
  CHECK(lacking_rates(graph, *Topology::build(machine)) == "");
  gpu.peak_flops = 0;
  CHECK(lacking_rates(graph, *Topology::build(machine)) ==
        "1 of 3 nodes cannot run on 'gpu:0', which lacks peak_flops to estimate run times from");
  gpu.memory_bandwidth = 0;
  const std::string both = lacking_rates(graph, *Topology::build(machine));
  CHECK(both.starts_with("2 of 3 nodes cannot run on 'gpu:0', which lacks peak_flops and memory_"));
  CHECK(lacking_rates(with_times({0, 0}), with_kinds({"cpu", "gpu"})) == "");  // they are given
}
