// Training steps: forward and backward operators share devices, which is where list schedulers that
// look at one node at a time lose to a single device.
#include <doctest/doctest.h>

#include "runtime/placer/methods.h"
#include "runtime/placer/placer.h"
#include "tests/unit/workloads_support.h"
#include "tools/io/read.h"

namespace placeto {
namespace {

// Small variants of the shipped networks: the same wiring, fewer layers.
std::vector<GraphSpec> training_steps() {
  std::vector<GraphSpec> graphs;
  for (const char* name : {"inception_v3", "resnet50", "bert_base", "gpt2", "nmt"}) {
    WorkloadOptions options;
    options.training = true;
    if (std::string(name) == "nmt") options.length = 8;
    graphs.push_back(generated(name, options));
  }
  return graphs;
}

constexpr const char* kTopologies[] = {"2xk80", "4xk80", "cpu+gpu", "2x4-gpu-two-hosts"};

}  // namespace

TEST_CASE("auto places training steps within memory and never worse than on one device") {
  for (const GraphSpec& spec : training_steps()) {
    const Graph graph = Graph::build(spec).value();
    for (const char* name : kTopologies) {
      CAPTURE(spec.name);
      CAPTURE(name);
      const Topology topology =
          read_topology(PLACETO_SOURCE_DIR "/models/topologies/" + std::string(name) + ".json")
              .value();
      const Problem problem = Problem::build(graph, topology).value();
      const Candidate single = find_method("single")->place(problem, {}).value();
      const Result<PlaceResult> placed = place_auto(problem, {});
      REQUIRE(placed.ok());
      CHECK(placed->best.score.feasible());
      CHECK(obeys_rules(problem, placed->best.assignment));
      CHECK(placed->best.score <= single.score);
      // List schedulers see what a colocated group costs, so none is far behind one device.
      for (const char* method : {"heft", "etf", "iterate"}) {
        CAPTURE(method);
        const Candidate candidate = find_method(method)->place(problem, {}).value();
        CHECK(candidate.score.objective_us <= 1.2 * single.score.objective_us);
      }
    }
  }
}

TEST_CASE("weights of three quarters of the memory of four devices are packed") {
  WorkloadOptions options;
  options.size = "xl";
  const Graph graph = Graph::build(generated("gpt2", options)).value();
  uint64_t weights = 0;
  for (uint32_t v = 0; v < graph.node_count(); ++v) weights += graph.node(v).resident_bytes;
  TopologySpec topology =
      read_topology_spec(PLACETO_SOURCE_DIR "/models/topologies/4xk80.json").value();
  for (DeviceSpec& device : topology.devices) device.memory_bytes = weights / 3;
  const Topology tight = Topology::build(topology).value();
  const Problem problem = Problem::build(graph, tight).value();
  CHECK(!find_method("single")->place(problem, {})->score.feasible());
  const Result<PlaceResult> placed = place_auto(problem, {});
  INFO(placed.status().message());
  REQUIRE(placed.ok());
  for (uint32_t d = 0; d < 4; ++d) CHECK(placed->timeline.peak_memory_bytes[d] <= weights / 3);
}

}  // namespace placeto
