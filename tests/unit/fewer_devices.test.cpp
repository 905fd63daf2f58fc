// The same problem with fewer of its like devices.
#include "runtime/placer/fewer_devices.h"

#include <doctest/doctest.h>

#include "runtime/cost/evaluator.h"
#include "tests/support/random_problem.h"

namespace placeto {
namespace {

// A processor among so many accelerators, and what two nodes that share a device are placed on.
test::Instance beside_processor(uint32_t accelerators, const Rules& rules = {}) {
  GraphSpec graph;
  for (uint32_t v = 0; v < 3; ++v) {
    graph.nodes.emplace_back();
    graph.nodes.back().name = "n" + std::to_string(v);
    graph.nodes.back().cost_us = {10};
    graph.nodes.back().outputs = {50};
    if (v > 0) graph.edges.push_back({v - 1, 0, v});
  }
  graph.nodes[0].colocate = graph.nodes[2].colocate = "pair";
  TopologySpec topology = test::equal_devices(1 + accelerators);
  topology.devices[1].kind = "cpu";
  for (DeviceSpec& device : topology.devices) device.memory_bytes = 1'000;
  return test::build_instance(std::move(graph), std::move(topology), rules);
}

}  // namespace

TEST_CASE("of like devices one of 2 to 8 is left out, and of more those beyond a power of two") {
  for (const auto& [all, left] : {std::pair{2, 1}, {5, 4}, {8, 7}, {9, 8}, {16, 8}, {17, 16}}) {
    const test::Instance instance = beside_processor(all);
    REQUIRE(instance.problem);
    const auto sets = like_devices(*instance.problem);
    REQUIRE(sets.size() == 2);  // device 1 is the processor
    CHECK(sets[1] == std::vector<uint32_t>{1});
    const auto fewer =
        FewerDevices::of(*instance.problem, without_last(*instance.problem, sets[0]), nullptr);
    REQUIRE(fewer != nullptr);
    CHECK(fewer->problem().device_count() == 1 + static_cast<uint32_t>(left));
  }
  CHECK(sizes_searched(1) == 1);
  CHECK(sizes_searched(4) == 4);
  CHECK(sizes_searched(17) == 10);  // 17, 16, 8, 7 and so on
}

TEST_CASE("all sets from one on lose devices; where sizes have many combinations, the largest") {
  const auto sets = [](const std::vector<size_t>& sizes) {
    std::vector<std::vector<uint32_t>> all;
    for (const size_t size : sizes) all.emplace_back(size);
    return all;
  };
  using Lessened = std::vector<size_t>;
  CHECK(sets_to_lessen(sets({2, 1, 3, 2}), 0) == Lessened{0, 2, 3});
  CHECK(sets_to_lessen(sets({2, 1, 3, 2}), 2) == Lessened{2, 3});
  CHECK(sets_to_lessen(sets({1, 1}), 0).empty());
  CHECK(sets_to_lessen(sets({4, 4, 2}), 2) == Lessened{0});
  CHECK(sets_to_lessen(sets({4, 4, 2, 8}), 0) == Lessened{3});  // behind the first too many
}

TEST_CASE("a device that a rule tells apart is in no set of like ones") {
  Rules rules;
  rules.pins = {{.node = 1, .device = 3}};
  const test::Instance instance = beside_processor(3, rules);
  REQUIRE(instance.problem);
  const std::vector<std::vector<uint32_t>> sets = {{0, 2}, {1}, {3}};
  CHECK(like_devices(*instance.problem) == sets);
}

TEST_CASE("a placement on fewer devices costs the same among all, within the same rules") {
  Rules rules;
  rules.memory_headroom = 0.1;
  bool restricted = false;
  SUBCASE("of memory and colocation") {}
  SUBCASE("and of devices") {
    rules.pins = {{.node = 1, .device = 3}};
    rules.forbids = {{.node = 0, .device = 1}};
    restricted = true;
  }
  const test::Instance instance = beside_processor(3, rules);
  REQUIRE(instance.problem);
  const auto like = like_devices(*instance.problem)[0];
  const auto fewer =
      FewerDevices::of(*instance.problem, without_last(*instance.problem, like), nullptr);
  REQUIRE(fewer != nullptr);
  CHECK(fewer->problem().group_count() == instance.problem->group_count());
  Random random(5);
  for (int i = 0; i < 20; ++i) {
    Candidate there{"there", test::random_assignment(fewer->problem(), random), {}};
    const Candidate here = fewer->among_all(there);
    CHECK(obeys_rules(*instance.problem, here.assignment));
    CHECK(Evaluator(fewer->problem()).evaluate(there.assignment) ==
          Evaluator(*instance.problem).evaluate(here.assignment));
    if (restricted) {
      CHECK(here.assignment[1] == 3);
      CHECK(here.assignment[0] != 1);
    }
    for (uint32_t d = 0; d < fewer->problem().device_count(); ++d) {
      CHECK(fewer->problem().memory_limit(d) == 900);
    }
  }
}

}  // namespace placeto
