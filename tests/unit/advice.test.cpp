#include "tools/report/advice.h"

#include <doctest/doctest.h>

#include "runtime/cost/simulator.h"
#include "tests/unit/report_scene.h"

using namespace placeto;
using namespace placeto::test;

namespace {

// Two nodes on two devices with a transfer between them: 100 us, 200 us, 400 us.
struct Chain {
  Graph graph = [] {
    GraphSpec spec;
    spec.nodes.resize(2);
    spec.nodes[0].name = "a";
    spec.nodes[0].cost_us = {100};
    spec.nodes[0].outputs = {2000};
    spec.nodes[1].name = "b";
    spec.nodes[1].cost_us = {400};
    spec.edges = {{0, 0, 1}};
    return *Graph::build(spec);
  }();
  Topology topology = [] {
    TopologySpec spec;
    spec.devices = {{"gpu:0", "gpu"}, {"gpu:1", "gpu"}, {"gpu:2", "gpu"}};
    spec.default_link.bandwidth_bytes_per_us = 10;
    return *Topology::build(spec);
  }();
  Problem problem = *Problem::build(graph, topology);
  Assignment assignment{0, 1};
  Timeline timeline = Simulator(problem).run(assignment);
};

// The same with 10,000 bytes in each node.
struct HeavyChain : Chain {
  Graph heavy = [this] {
    GraphSpec spec = graph.spec();
    for (NodeSpec& node : spec.nodes) node.resident_bytes = 10'000;
    return *Graph::build(spec);
  }();
  Advice advice_within(uint64_t memory_bytes, uint64_t work, const Rules& rules = {}) const {
    TopologySpec spec = topology.spec();
    for (DeviceSpec& device : spec.devices) device.memory_bytes = memory_bytes;
    const Topology limited = *Topology::build(spec);
    const Problem placed = *Problem::build(heavy, limited, rules);
    return advise(placed, assignment, Simulator(placed).run(assignment), work);
  }
};

}  // namespace

TEST_CASE("what a run waits for is named and adds up to the makespan") {
  const Chain chain;
  const Advice advice = advise(chain.problem, chain.assignment, chain.timeline, 1000);
  REQUIRE(advice.waits_for.size() == 3);
  CHECK(advice.waits_for[0].what == "gpu:1 computes");
  CHECK(advice.waits_for[0].us == 400);
  CHECK(advice.waits_for[1].us == 200);
  CHECK(advice.waits_for[1].what.find("gpu:0") != std::string::npos);
  CHECK(advice.waits_for[2].what == "gpu:0 computes");

  const Scene scene;
  const Advice other = advise(scene.problem, scene.assignment, scene.timeline, 100'000);
  double sum = 0;
  for (const WaitingShare& share : other.waits_for) sum += share.us;
  CHECK(sum == doctest::Approx(scene.timeline.makespan_us));
}

TEST_CASE("what stages and cuts cost is told apart from gaps and latencies") {
  const Chain chain;
  TopologySpec spec = chain.topology.spec();
  spec.execution = Execution::kStaged;
  spec.transfer = Transfer::kUnicast;
  for (DeviceSpec& device : spec.devices) {
    device.stage_us = 10;
    device.cut_us = 5;
    device.cut_bytes_per_us = 100;
  }
  const auto share_of = [&](const char* what) {
    const Topology topology = *Topology::build(spec);
    const Problem problem = *Problem::build(chain.graph, topology);
    const Timeline timeline = Simulator(problem).run(chain.assignment);
    double us = 0, sum = 0;
    for (const WaitingShare& share : advise(problem, chain.assignment, timeline, 0).waits_for) {
      sum += share.us;
      if (share.what == what) us = share.us;
    }
    CHECK(sum == doctest::Approx(timeline.makespan_us));
    return us;
  };
  CHECK(share_of("stages and cuts on gpu:0") == doctest::Approx(10 + 5 + 20));
  CHECK(share_of("stages and cuts on gpu:1") == doctest::Approx(10 + 5 + 20));
  CHECK(share_of("gpu:1 computes") == 400);
  CHECK(share_of("gaps and latencies") == 0);
  spec.default_link.latency_us = 7;
  CHECK(share_of("gaps and latencies") == doctest::Approx(7));
  CHECK(share_of("stages and cuts on gpu:0") == doctest::Approx(35));
}

TEST_CASE("a part that is twice as fast saves half of what the run waits for it") {
  const Chain chain;
  const Advice advice = advise(chain.problem, chain.assignment, chain.timeline, 1000);
  REQUIRE(advice.twice_as_fast.size() == 3);  // and not the device that does nothing
  CHECK(advice.twice_as_fast[0].what == "gpu:1");
  CHECK(advice.twice_as_fast[0].objective_us == 500);
  CHECK(advice.twice_as_fast[1].what.find("transfers from") == 0);
  CHECK(advice.twice_as_fast[1].objective_us == 600);
  CHECK(advice.twice_as_fast[2].what == "gpu:0");
  CHECK(advice.twice_as_fast[2].objective_us == 650);
}

TEST_CASE("a channel that is twice as fast has given links and default ones that are") {
  const Chain chain;
  TopologySpec spec = chain.topology.spec();
  spec.links = {{"gpu:1", "gpu:0", {20, 0, 0}, ""}, {"gpu:0", "gpu:1", {4, 0, 0}, ""}};
  const Topology topology = *Topology::build(spec);
  const Problem problem = *Problem::build(chain.graph, topology);
  const Timeline timeline = Simulator(problem).run(chain.assignment);
  REQUIRE(timeline.makespan_us == 1000);
  const Advice advice = advise(problem, chain.assignment, timeline, 1000);
  REQUIRE(advice.twice_as_fast.size() == 3);
  CHECK(advice.twice_as_fast[0].what.find("transfers from") == 0);
  CHECK(advice.twice_as_fast[0].objective_us == 750);
}

TEST_CASE("advice keeps to the work that it may spend") {
  const Chain chain;
  const auto parts = [&chain](uint64_t work) {
    return advise(chain.problem, chain.assignment, chain.timeline, work).twice_as_fast.size();
  };
  constexpr uint64_t kNodes = 2, kPairs = 9;
  CHECK(parts(0) == 0);
  CHECK(parts(kNodes + kPairs - 1) == 0);
  CHECK(parts(kNodes + kPairs) == 1);
}

TEST_CASE("what memory costs is said where a limit holds a better placement back") {
  const HeavyChain chain;
  // On one device, without transfer.
  CHECK(chain.advice_within(15'000, 10'000).without_limits_us == 500);
  CHECK(chain.advice_within(15'000, 10).without_limits_us == 0);
  CHECK(chain.advice_within(1'000'000, 10'000).without_limits_us == 0);
}

TEST_CASE("memory does not cost what rules cost") {
  const HeavyChain chain;
  Rules rules;
  rules.pins = {{0, 0}, {1, 1}};
  CHECK(chain.advice_within(15'000, 10'000, rules).without_limits_us == 0);
  rules = {};
  rules.forbids = {{1, 0}, {1, 2}, {0, 1}};
  CHECK(chain.advice_within(15'000, 10'000, rules).without_limits_us == 0);
}

TEST_CASE("advice about throughput compares bottlenecks") {
  const HeavyChain chain;
  Rules rules;
  rules.objective = Objective::kThroughput;
  const Advice advice = chain.advice_within(15'000, 10'000, rules);
  // The second node takes 400 us wherever it is; what it waits for before does not matter.
  CHECK(advice.without_limits_us == 0);
  REQUIRE(advice.twice_as_fast.size() == 1);
  CHECK(advice.twice_as_fast[0].what == "gpu:1");
  CHECK(advice.twice_as_fast[0].objective_us == 200);
  REQUIRE(advice.busiest.size() == 3);
  CHECK(advice.busiest[0].what == "gpu:1");
  CHECK(advice.busiest[0].us == 400);
}
