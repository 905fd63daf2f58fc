// What the placer promises, each as a property that one example refutes.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <initializer_list>

#include "runtime/placer/explain.h"
#include "runtime/placer/placer.h"
#include "tests/support/all_placements.h"
#include "tests/support/examples.h"
#include "tests/support/random_problem.h"
#include "tests/support/small_policies.h"
#include "tests/unit/placed_with.h"
#include "tests/unit/workloads_support.h"
#include "tools/io/read.h"

namespace placeto {
namespace {

// Devices, links and gaps of the paper's machine: there it matters where a node goes.
TopologySpec k80s(uint32_t count) {
  TopologySpec topology = test::equal_devices(count);
  topology.op_gap_us = 5.7;
  topology.default_link = {7600, 0, 25};
  return topology;
}

GraphSpec drawn(const char* family, uint32_t nodes, double ccr, uint64_t seed) {
  WorkloadOptions options;
  options.nodes = nodes;
  options.ccr = ccr;
  options.seed = seed;
  return generated(family, options);
}
GraphSpec layered(uint32_t nodes, double ccr, uint64_t seed) {
  return drawn("layered", nodes, ccr, seed);
}

// Places with one budget after the other, each larger than the one before. How often it gained.
int gains(const Problem& problem, std::initializer_list<uint64_t> budgets,
          const Policy* policy = nullptr) {
  int gained = 0;
  Score last = Score::worst();
  for (const uint64_t evaluations : budgets) {
    CAPTURE(evaluations);
    const Result<PlaceResult> placed = placed_with(problem, evaluations, policy);
    REQUIRE(placed.ok());
    CHECK(placed->best.score <= last);
    gained += placed->best.score < last;
    last = placed->best.score;
  }
  return gained;
}

// Moves of one node, and of what is colocated with it, that would make the placement better.
int improving_moves(const Problem& problem, const PlaceResult& placed) {
  int count = 0;
  Explainer explainer(problem, placed.best.assignment, placed.best.division);
  for (uint32_t g = 0; g < problem.group_count(); ++g) {
    const Reason reason = explainer.explain(problem.members(g)[0]);
    CHECK(reason.score == placed.best.score);
    count += reason.second && reason.second->score < reason.score ? 1 : 0;
  }
  return count;
}

}  // namespace

TEST_CASE("more budget is never worse, with and without a policy") {
  const auto policy = test::load_policy(test::small_leaping_policy());
  int gained = 0;
  for (uint64_t seed = 1; seed <= 6; ++seed) {
    const double ccr = seed % 2 == 0 ? 0.3 : 3;
    const test::Instance instance =
        test::build_instance(layered(20 + 15 * static_cast<uint32_t>(seed), ccr, seed),
                             k80s(static_cast<uint32_t>(2 + seed % 5)));
    REQUIRE(instance.problem);
    CAPTURE(seed);
    for (const Policy* advice : {static_cast<const Policy*>(nullptr), policy.get()}) {
      gained +=
          gains(*instance.problem, {0, 20, 50, 64, 100, 180, 300, 333, 700, 1'000, 1'500}, advice);
    }
  }
  CHECK(gained > 24);
}

// Polishing them costs more than it is worth before it begins to pay, between two marks.
TEST_CASE("more budget is never worse on graphs that are polished only after many evaluations") {
  int gained = 0;
  for (const uint64_t seed : {1, 2, 3, 4}) {
    const test::Instance instance =
        test::build_instance(layered(200 + 40 * static_cast<uint32_t>(seed), 3, seed), k80s(8));
    REQUIRE(instance.problem);
    CAPTURE(seed);
    gained += gains(*instance.problem,
                    {300, 1'000, 1'200, 1'500, 1'600, 1'900, 2'400, 2'900, 3'000, 4'000, 7'000});
  }
  CHECK(gained > 16);
}

// What ends such a search must not be better by chance than what a longer one ends with.
TEST_CASE("more budget is never worse in stages of graphs that are not polished") {
  TopologySpec topology = k80s(4);
  topology.execution = Execution::kStaged;
  for (DeviceSpec& device : topology.devices) {
    device.stage_us = 40;
    device.cut_us = 10;
    device.cut_bytes_per_us = 16'000;
  }
  int gained = 0;
  for (const uint64_t seed : {1, 2, 3, 4}) {
    WorkloadOptions options;
    options.nodes = 600;
    options.ccr = seed % 2 == 0 ? 3 : 1;
    options.seed = seed;
    const test::Instance instance =
        test::build_instance(generated("series_parallel", options), topology);
    REQUIRE(instance.problem);
    CAPTURE(seed);
    gained += gains(*instance.problem, {100, 170, 230, 300, 340, 450, 600, 777});
  }
  CHECK(gained > 8);
}

TEST_CASE("more budget is never worse under any rules, with memory limits and any policy") {
  Random random(95);
  uint32_t gained = 0, placings = 0;
  for (uint32_t rules = 0; rules < test::kRuleSets; ++rules) {
    for (uint32_t i = 0; i < test::examples(6); ++i) {
      const test::RandomShape shape{
          .most_nodes = 40, .whole_numbers = i % 2 == 0, .restrictions = i % 3 == 0};
      GraphSpec graph = test::random_graph(shape, random);
      TopologySpec topology = test::random_topology(shape, rules, random);
      if (i % 3 == 1) {
        for (DeviceSpec& device : topology.devices) device.memory_bytes = 200 + random.below(600);
      }
      Rules caller;
      if ((i + rules) % 6 == 5) caller.objective = Objective::kThroughput;
      const test::Instance instance =
          test::build_instance(std::move(graph), std::move(topology), caller);
      if (!instance.problem) continue;
      CAPTURE(rules);
      CAPTURE(i);
      const auto published = test::load_policy(
          test::small_placeto_policy(instance.problem->device_count(), test::Looks::kAtLoads));
      const auto pairwise = test::load_policy(test::small_pairwise_policy());
      for (const Policy* advice :
           {static_cast<const Policy*>(nullptr), published.get(), pairwise.get()}) {
        Score last = Score::worst();
        for (const uint64_t evaluations : {0, 30, 100, 170, 300, 1'000}) {
          CAPTURE(evaluations);
          const Result<PlaceResult> placed = placed_with(*instance.problem, evaluations, advice);
          if (!placed.ok()) {
            CHECK(last == Score::worst());
            continue;
          }
          CHECK(placed->best.score <= last);
          gained += last.feasible() && placed->best.score < last;
          last = placed->best.score;
          ++placings;
        }
      }
    }
  }
  CHECK(gained > test::examples(36));
  CHECK(placings > test::examples(1'200));
}

TEST_CASE("no move of a node improves a placement, of random graphs and networks") {
  const auto check = [](const GraphSpec& graph, const TopologySpec& topology) {
    const test::Instance instance = test::build_instance(graph, topology);
    REQUIRE(instance.problem);
    CAPTURE(graph.name);
    CAPTURE(topology.name);
    const Result<PlaceResult> placed = placed_with(*instance.problem, 0);
    REQUIRE(placed.ok());
    if (placed->one_move_optimal) CHECK(improving_moves(*instance.problem, *placed) == 0);
    return placed->one_move_optimal;
  };
  for (uint64_t seed = 1; seed <= 8; ++seed) {
    CHECK(check(layered(60, seed % 2 == 0 ? 0.2 : 4, seed),
                k80s(static_cast<uint32_t>(2 + seed % 5))));
  }
  // Every workload and every topology, in changing pairs.
  constexpr const char* kTopologies[] = {"2xk80", "edge-cpu-gpu-npu",  "4xk80",        "cpu+gpu",
                                         "8xk80", "2x4-gpu-two-hosts", "4xa100-nvlink"};
  size_t pair = 0;
  int polished = 0, all = 0;
  for (const WorkloadInfo& workload : workloads()) {
    for (int i = 0; i < 2; ++i) {
      WorkloadOptions options;
      options.training = workload.training && i == 1;
      polished += check(generated(workload.name, options),
                        read_topology_spec(PLACETO_SOURCE_DIR "/models/topologies/" +
                                           std::string(kTopologies[pair++ % 7]) + ".json")
                            .value());
      ++all;
    }
  }
  CHECK(polished >= 13);  // the others are over the limit
  CHECK(all >= 28);
}

// Where no heuristic's placement fits, and the search through all placements ends before it is
// through.
TEST_CASE("no move of a node improves what was found where hardly anything fits") {
  Random random(27);
  GraphSpec graph;
  uint64_t weights = 0;
  const uint32_t nodes = 13 + random.below(12), devices = 2 + random.below(3);
  for (uint32_t v = 0; v < nodes; ++v) {
    NodeSpec& node = graph.nodes.emplace_back();
    node.cost_us = {1 + 10 * random.uniform()};
    node.outputs = {random.below(100)};
    node.resident_bytes = random.below(60);
    node.workspace_bytes = random.below(40);
    weights += node.resident_bytes;
    for (uint32_t i = 0; i < 2 && v > 0; ++i) {
      const EdgeSpec edge{random.below(v), 0, v};
      if (std::count(graph.edges.begin(), graph.edges.end(), edge) == 0) {
        graph.edges.push_back(edge);
      }
    }
  }
  TopologySpec topology = test::equal_devices(devices);
  topology.default_link.bandwidth_bytes_per_us = 20;
  for (DeviceSpec& device : topology.devices) {
    device.memory_bytes =
        static_cast<uint64_t>(1.56 * static_cast<double>(weights) / devices) + 150;
  }
  const test::Instance instance = test::build_instance(std::move(graph), std::move(topology));
  REQUIRE(instance.problem);
  const Result<PlaceResult> placed = placed_with(*instance.problem, 0);
  REQUIRE(placed.ok());
  CHECK(!placed->proved);
  REQUIRE(placed->one_move_optimal);
  CHECK(improving_moves(*instance.problem, *placed) == 0);
}

TEST_CASE("no move of a node improves a placement in stages, whatever its finish moved") {
  Random random(97);
  uint32_t looked = 0, divided = 0;
  for (uint32_t rules = 0; rules < 8; ++rules) {
    for (uint32_t i = 0; i < test::examples(120); ++i) {
      const test::RandomShape shape{.most_nodes = 9, .whole_numbers = i % 2 == 0};
      Rules caller;
      if (i % 3 != 0) caller.objective = Objective::kThroughput;
      const test::RandomMemory memory{60, i % 4 == 0 ? 300u : 0u};
      const test::Instance instance =
          test::random_instance(shape, 16 + rules, random, memory, caller);
      if (!instance.problem) continue;
      CAPTURE(rules);
      CAPTURE(i);
      for (const uint64_t evaluations : {0, 30, 300}) {
        const Result<PlaceResult> placed = placed_with(*instance.problem, evaluations);
        if (!placed.ok()) continue;
        CHECK(placed->one_move_optimal);
        CHECK(improving_moves(*instance.problem, *placed) == 0);
        ++looked;
        divided += !placed->best.division.empty();
      }
    }
  }
  CHECK(looked > test::examples(1'500));
  CHECK(divided > test::examples(100));
}

TEST_CASE(
    "few placements in stages are all tried: what fits is found, one more device never hurts") {
  Random random(98);
  int placings = 0, added = 0;
  for (int i = 0; i < 200; ++i) {
    const test::RandomShape shape{.most_nodes = 5, .most_devices = 2, .whole_numbers = i % 2 == 0};
    GraphSpec graph = test::random_graph(shape, random);
    TopologySpec topology = test::random_topology(shape, 16 + i % 4, random);
    for (DeviceSpec& device : topology.devices) {
      if (i % 3 == 0) device.memory_bytes = 30 + random.below(120);
    }
    topology.links.clear();
    const test::Instance instance = test::build_instance(graph, topology);
    if (!instance.problem) continue;
    CAPTURE(i);
    const Result<PlaceResult> placed = placed_with(*instance.problem, 1'000);
    const Score least = test::least_score(*instance.problem);
    CHECK((placed.ok() || !least.feasible()));
    if (!placed.ok()) continue;
    ++placings;
    CHECK(placed->best.score <= least);
    topology.devices.push_back(topology.devices.back());
    topology.devices.back().name = "another";
    const test::Instance wider = test::build_instance(graph, topology);
    REQUIRE(wider.problem);
    const Result<PlaceResult> also = placed_with(*wider.problem, 1'000);
    REQUIRE(also.ok());
    CHECK(also->best.score <= placed->best.score);
    ++added;
  }
  CHECK(placings > 100);
  CHECK(added > 100);
}

TEST_CASE("auto is never worse than the policy alone, whatever the rules") {
  Random random(97);
  const std::shared_ptr<const Policy> policy =
      read_policy(PLACETO_SOURCE_DIR "/models/default.plpo").value();
  uint32_t compared = 0, better = 0;
  for (uint32_t rules = 0; rules < test::kRuleSets; ++rules) {
    for (uint32_t i = 0; i < test::examples(40); ++i) {
      const test::RandomShape shape{
          .most_nodes = 40, .whole_numbers = i % 2 == 0, .restrictions = i % 3 == 0};
      Rules caller;
      if (i % 2 == 1) caller.objective = Objective::kThroughput;
      const test::Instance instance = test::random_instance(shape, rules, random, {}, caller);
      if (!instance.problem) continue;
      CAPTURE(rules);
      CAPTURE(i);
      const Result<PlaceResult> all = placed_with(*instance.problem, 0, policy.get());
      const Result<PlaceResult> alone =
          place(*instance.problem, kPolicyAlone, {}, {.policy = policy.get()});
      REQUIRE(all.ok());
      REQUIRE(alone.ok());
      CHECK(all->best.score <= alone->best.score);
      better += all->best.score < alone->best.score;
      ++compared;
    }
  }
  CHECK(compared > test::examples(200));
  CHECK(better > test::examples(40));  // few, as the policy begins where polishing ends
}

TEST_CASE("without a budget no policy makes an answer worse, but in stages") {
  Random random(98);
  const std::shared_ptr<const Policy> shipped =
      read_policy(PLACETO_SOURCE_DIR "/models/default.plpo").value();
  const auto by_hand = test::load_policy(test::small_leaping_policy());
  uint32_t gained = 0;
  for (uint32_t rules = 0; rules < test::kStagedRules; ++rules) {
    for (uint32_t i = 0; i < test::examples(20); ++i) {
      const test::RandomShape shape{.most_nodes = 80, .restrictions = i % 3 == 0};
      Rules caller;
      if (i % 4 == 1) caller.objective = Objective::kThroughput;
      test::Instance instance = test::random_instance(shape, rules, random, {}, caller);
      if (i % 2 == 0) {  // on which moves gain more
        TopologySpec topology = k80s(2 + i % 3);
        test::set_rules(rules, topology);
        instance = test::build_instance(layered(60 + i, 2, 100 * rules + i), std::move(topology));
      }
      if (!instance.problem) continue;
      CAPTURE(rules);
      CAPTURE(i);
      const Result<PlaceResult> without = placed_with(*instance.problem, 0);
      REQUIRE(without.ok());
      for (const Policy* policy : {shipped.get(), by_hand.get()}) {
        const Result<PlaceResult> with = placed_with(*instance.problem, 0, policy);
        REQUIRE(with.ok());
        CHECK(with->best.score <= without->best.score);
        gained += with->best.score < without->best.score;
      }
    }
  }
  CHECK(gained > test::examples(4));
}

TEST_CASE("small graphs are solved, and more of the same devices never hurt them") {
  for (uint64_t seed = 1; seed <= 6; ++seed) {
    const GraphSpec graph = layered(10, seed % 2 == 0 ? 0.2 : 5, seed);
    double last_us = std::numeric_limits<double>::infinity();
    for (const uint32_t devices : {1, 2, 4, 10, 16}) {
      const test::Instance instance = test::build_instance(graph, k80s(devices));
      REQUIRE(instance.problem);
      CAPTURE(seed);
      CAPTURE(devices);
      const Result<PlaceResult> placed = placed_with(*instance.problem, 1'000);
      REQUIRE(placed.ok());
      CHECK(placed->proved);
      CHECK(placed->bounds.best_us() ==
            doctest::Approx(placed->timeline.makespan_us).epsilon(1e-9));
      CHECK(placed->timeline.makespan_us <= last_us);
      last_us = placed->timeline.makespan_us;
    }
  }
}

TEST_CASE(
    "more of the same devices never hurt graphs that a search does not solve, nor in stages") {
  Random random(17);
  int used = 0;
  for (int i = 0; i < 16; ++i) {
    const uint32_t nodes = 5 + random.below(26);
    const GraphSpec graph = layered(nodes, i % 4 == 0 ? 0.5 : 3, i + 1);
    double last_us = std::numeric_limits<double>::infinity();
    for (const uint32_t devices : {1, 2, 3, 4, 6, 8}) {
      TopologySpec topology = k80s(devices);
      if (i % 2 == 0) topology.execution = Execution::kStaged;
      for (DeviceSpec& device : topology.devices) device.stage_us = 20;
      const test::Instance instance = test::build_instance(graph, topology);
      REQUIRE(instance.problem);
      CAPTURE(i);
      CAPTURE(devices);
      const Result<PlaceResult> placed = placed_with(*instance.problem, 1'000);
      REQUIRE(placed.ok());
      used += placed->timeline.makespan_us < last_us;
      CHECK(placed->timeline.makespan_us <= last_us * (1 + 1e-12));
      last_us = placed->timeline.makespan_us;
    }
  }
  CHECK(used > 30);
}

TEST_CASE("one device more never hurts, up to eight, nor twice as many") {
  for (uint32_t seed = 1; seed <= test::examples(12); ++seed) {
    const GraphSpec graph = drawn("fork_join", 30, 3, seed);
    double last_us = std::numeric_limits<double>::infinity();
    for (const uint32_t devices : {4, 5, 6, 7, 8, 16}) {
      const test::Instance instance = test::build_instance(graph, k80s(devices));
      REQUIRE(instance.problem);
      CAPTURE(seed);
      CAPTURE(devices);
      const Result<PlaceResult> placed = placed_with(*instance.problem, 1'000);
      REQUIRE(placed.ok());
      CHECK(placed->timeline.makespan_us <= last_us * (1 + 1e-12));
      last_us = placed->timeline.makespan_us;
    }
  }
}

TEST_CASE("more of the same devices never hurt on systems of two kinds of them") {
  uint32_t used = 0;
  for (uint32_t i = 0; i < 24; ++i) {
    const GraphSpec graph = layered(14 + i % 8, 3, i + 1);
    double makespan_us[3][3] = {};
    for (uint32_t slow = 1; slow < 3; ++slow) {
      for (uint32_t fast = 1; fast < 3; ++fast) {
        TopologySpec topology = k80s(slow + fast);
        topology.execution = Execution::kStaged;
        for (uint32_t d = 0; d < slow + fast; ++d) {
          topology.devices[d].stage_us = d < slow ? 5 : 20;
          topology.devices[d].slowdown = d < slow ? 1.2 : 1;
        }
        const test::Instance instance = test::build_instance(graph, topology);
        REQUIRE(instance.problem);
        CAPTURE(i);
        CAPTURE(slow);
        CAPTURE(fast);
        const Result<PlaceResult> placed = placed_with(*instance.problem, 100);
        REQUIRE(placed.ok());
        const double us = makespan_us[slow][fast] = placed->timeline.makespan_us;
        for (const double less_us : {makespan_us[slow - 1][fast], makespan_us[slow][fast - 1]}) {
          if (less_us == 0) continue;  // none of one kind
          CHECK(us <= less_us * (1 + 1e-12));
          used += us < less_us;
        }
      }
    }
  }
  CHECK(used > 20);
}

// By a power of two, which is exact.
TEST_CASE("the unit of time decides nothing") {
  Random random(93);
  int compared = 0;
  for (int i = 0; i < 60; ++i) {
    const test::RandomShape shape{.most_nodes = 60, .most_devices = 5, .whole_numbers = false};
    GraphSpec graph = test::random_graph(shape, random);
    TopologySpec topology =
        test::random_topology(shape, static_cast<uint32_t>(i) % test::kRuleSets, random);
    const test::Instance instance = test::build_instance(graph, topology);
    const double unit = std::ldexp(1.0, i % 2 == 0 ? -40 : 40);
    for (NodeSpec& node : graph.nodes) {
      for (double& us : node.cost_us) us *= us > 0 ? unit : 1;  // below: cannot run there
    }
    const auto scale = [unit](LinkParameters& link) {
      link.bandwidth_bytes_per_us /= unit;
      link.latency_us *= unit;
      link.gap_us *= unit;
    };
    topology.op_gap_us *= unit;
    scale(topology.default_link);
    for (LinkSpec& link : topology.links) scale(link.parameters);
    for (DeviceSpec& device : topology.devices) {
      device.stage_us *= unit;
      device.cut_us *= unit;
      device.cut_bytes_per_us /= unit;
    }
    const test::Instance scaled = test::build_instance(graph, topology);
    if (!instance.problem || !scaled.problem) continue;
    CAPTURE(i);
    const Result<PlaceResult> placed = placed_with(*instance.problem, 300);
    const Result<PlaceResult> other = placed_with(*scaled.problem, 300);
    REQUIRE(placed.ok());
    REQUIRE(other.ok());
    CHECK(other->best.assignment == placed->best.assignment);
    CHECK(other->best.score.objective_us == placed->best.score.objective_us * unit);
    ++compared;
  }
  CHECK(compared > 40);
}

}  // namespace placeto
