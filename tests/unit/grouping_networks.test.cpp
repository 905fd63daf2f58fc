// Networks, placed with chains and tiny operators merged and without: merging costs little where it
// costs anything. tests/bench/results/grouping.md has what it changes.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "runtime/placer/placer.h"
#include "tests/unit/workloads_support.h"
#include "tools/io/read.h"

namespace placeto {
namespace {

// Makespans with merging over those without, of all generated networks.
struct Ratios {
  double worst = 0, mean = 0;
};

Ratios ratios_on(const Topology& topology, const Policy* policy) {
  Ratios ratios;
  double logarithms = 0;
  int count = 0;
  for (const WorkloadInfo& workload : workloads()) {
    if (workload.ccr) continue;  // random graphs have a ratio
    const Graph graph = Graph::build(generated(workload.name)).value();
    const Problem problem = Problem::build(graph, topology).value();
    const auto makespan = [&](Grouping grouping) {
      MethodOptions options;
      options.grouping = grouping;
      return place_auto(problem, options, {.policy = policy}).value().best.score.objective_us;
    };
    const double ratio = makespan(Grouping::kAutomatic) / makespan(Grouping::kNone);
    ratios.worst = std::max(ratios.worst, ratio);
    logarithms += std::log(ratio);
    ++count;
  }
  REQUIRE(count == 10);
  ratios.mean = std::exp(logarithms / count);
  return ratios;
}

}  // namespace

TEST_CASE("merging makes placements of networks at most 4% longer, half a percent on average") {
  for (const char* name : {"cpu+gpu", "4xk80"}) {
    CAPTURE(name);
    const Topology topology =
        read_topology(PLACETO_SOURCE_DIR "/models/topologies/" + std::string(name) + ".json")
            .value();
    const Ratios ratios = ratios_on(topology, nullptr);
    CHECK(ratios.worst <= 1.04);
    CHECK(ratios.mean <= 1.005);
  }
}

TEST_CASE("with the default policy, merging makes them at most 13% longer, 2% on average") {
  const auto policy = read_policy(PLACETO_SOURCE_DIR "/models/default.plpo").value();
  for (const char* name : {"cpu+gpu", "4xk80"}) {
    CAPTURE(name);
    const Topology topology =
        read_topology(PLACETO_SOURCE_DIR "/models/topologies/" + std::string(name) + ".json")
            .value();
    const Ratios ratios = ratios_on(topology, policy.get());
    CHECK(ratios.worst <= 1.13);
    CHECK(ratios.mean <= 1.02);
  }
}

}  // namespace placeto
