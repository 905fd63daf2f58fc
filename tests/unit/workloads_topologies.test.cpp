// The shipped example topologies, and the named networks on them.
#include "runtime/cost/problem.h"
#include "tests/unit/workloads_support.h"
#include "tools/io/read.h"

namespace placeto {
namespace {

constexpr const char* kBuiltIn[] = {
    "2xk80", "4xk80", "8xk80", "cpu+gpu", "4xa100-nvlink", "2x4-gpu-two-hosts", "edge-cpu-gpu-npu"};

Topology example(const char* name) {
  Result<Topology> topology =
      read_topology(PLACETO_SOURCE_DIR "/models/topologies/" + std::string(name) + ".json");
  INFO(topology.status().message());
  REQUIRE(topology.ok());
  return std::move(topology).value();
}

TEST_CASE("example topologies read, bear the name of their file and limit memory") {
  for (const char* name : kBuiltIn) {
    CAPTURE(name);
    const Topology topology = example(name);
    CHECK(topology.name() == name);
    for (uint32_t a = 0; a < topology.device_count(); ++a) {
      CHECK(topology.device(a).memory_bytes > 0);
      for (uint32_t b = 0; b < topology.device_count(); ++b) {
        if (a != b) CHECK(topology.link(a, b).bandwidth_bytes_per_us > 0);
      }
    }
  }
}

TEST_CASE("every network can be estimated on every example topology") {
  for (const WorkloadInfo& info : workloads()) {
    const Result<Graph> graph = Graph::build(generated(info.name));
    REQUIRE(graph.ok());
    for (const char* name : kBuiltIn) {
      CAPTURE(std::string(info.name));
      CAPTURE(name);
      const Topology topology = example(name);
      const Result<Problem> problem = Problem::build(*graph, topology);
      INFO(problem.status().message());
      REQUIRE(problem.ok());
      for (uint32_t d = 0; d < topology.device_count(); ++d) {
        double total = 0;
        for (uint32_t v = 0; v < graph->node_count(); ++v) total += problem->run_us(v, d);
        CHECK(total > 100);  // microseconds: estimates exist and are no mere launch overheads
        CHECK(total < 1e9);
      }
    }
  }
}

TEST_CASE("the paper's machines have its link, gaps and memory") {
  for (const char* name : {"2xk80", "4xk80", "8xk80"}) {
    const Topology topology = example(name);
    CHECK(topology.spec().op_gap_us == 5.7);
    CHECK(topology.spec().default_link.bandwidth_bytes_per_us == kReferenceBandwidth);
    CHECK(topology.spec().default_link.gap_us == 25);
    CHECK(topology.device(0).memory_bytes == 12'000'000'000);
    CHECK(topology.spec().transfer == Transfer::kBroadcast);
  }
  CHECK(example("8xk80").device_count() == 8);
}

TEST_CASE("transfers between the two hosts share the sending host's network card") {
  const Topology topology = example("2x4-gpu-two-hosts");
  for (uint32_t a = 0; a < 8; ++a) {
    for (uint32_t b = 0; b < 8; ++b) {
      if (a == b) continue;
      const bool across = a / 4 != b / 4;
      CHECK((topology.channel(a, b) == a) != across);  // else the source's own egress
      if (across)
        CHECK(topology.channel_name(topology.channel(a, b)) == (a < 4 ? "host0 nic" : "host1 nic"));
    }
  }
}

}  // namespace
}  // namespace placeto
