// Devices near each other, and what placing gains by looking at them alone.
#include "runtime/placer/near_devices.h"

#include <doctest/doctest.h>

#include "runtime/cost/evaluator.h"
#include "runtime/placer/fewer_devices.h"
#include "runtime/placer/methods.h"
#include "runtime/placer/placer.h"
#include "tests/support/random_problem.h"

namespace placeto {
namespace {

constexpr double kWithin = 10;  // bytes a microsecond

// A link from each device to each, by how fast it is; slow ones of two devices share an uplink.
TopologySpec linked(uint32_t devices, auto bytes_per_us) {
  TopologySpec topology = test::equal_devices(devices);
  topology.transfer = Transfer::kUnicast;
  for (uint32_t a = 0; a < devices; ++a) {
    for (uint32_t b = 0; b < devices; ++b) {
      if (a == b) continue;
      LinkSpec link{topology.devices[a].name, topology.devices[b].name, {}, ""};
      link.parameters.bandwidth_bytes_per_us = bytes_per_us(a, b);
      if (bytes_per_us(a, b) < kWithin) link.channel = "uplink " + std::to_string(a / 2);
      topology.links.push_back(link);
    }
  }
  return topology;
}

TopologySpec hosts(uint32_t count, uint32_t each, double slower = 100) {
  return linked(count * each, [=](uint32_t a, uint32_t b) {
    return a / each == b / each ? kWithin : kWithin / slower;
  });
}

GraphSpec chains(uint32_t nodes, uint32_t width, uint64_t bytes) {
  GraphSpec graph;
  for (uint32_t v = 0; v < nodes; ++v) {
    graph.nodes.emplace_back();
    graph.nodes.back().name = "n" + std::to_string(v);
    graph.nodes.back().cost_us = {10 + static_cast<double>(v % 7)};
    graph.nodes.back().outputs = {bytes};
    if (v >= width) graph.edges.push_back({v - width, 0, v});
    if (v > width && v % 3 == 0) graph.edges.push_back({v - width - 1, 0, v});
  }
  return graph;
}

using Scales = std::vector<DeviceSets>;

Scales near(TopologySpec topology, const Rules& rules = {}) {
  const test::Instance instance =
      test::build_instance(chains(8, 2, 40), std::move(topology), rules);
  REQUIRE(instance.problem);
  return near_devices(*instance.problem, nullptr);
}

}  // namespace

TEST_CASE("devices of one host are near each other, those of the fastest first") {
  CHECK(near(hosts(2, 4)) == Scales{{{0, 1, 2, 3}, {4, 5, 6, 7}}});
  TopologySpec unlike = hosts(3, 2);
  unlike.devices[0].slowdown = unlike.devices[2].slowdown = 3;
  CHECK(near(unlike) == Scales{{{4, 5}, {0, 1}, {2, 3}}});
  CHECK(near(linked(5, [](uint32_t a, uint32_t b) {
          return (a < 2) == (b < 2) ? kWithin : kWithin / 4;
        })) == Scales{{{2, 3, 4}, {0, 1}}});
  // What is far from everything is no host.
  CHECK(near(linked(4, [](uint32_t a, uint32_t b) {
          return a < 2 && b < 2 ? kWithin : kWithin / 50;
        })) == Scales{{{0, 1}}});
}

TEST_CASE("devices on which rules allow less come later, and those that run nothing not at all") {
  Rules rules;
  rules.pins = {{.node = 3, .device = 2}};
  CHECK(near(hosts(2, 2), rules) == Scales{{{2, 3}, {0, 1}}});
  rules = {};
  for (uint32_t v = 0; v < 8; ++v) {
    rules.forbids.push_back({v, 0});
    if (v < 7) rules.forbids.push_back({v, 1});
  }
  CHECK(near(hosts(2, 2), rules) == Scales{{{2, 3}, {0, 1}}});
  for (const uint32_t d : {0, 1}) rules.forbids.push_back({7, d});
  CHECK(near(hosts(2, 2), rules) == Scales{{{2, 3}}});
}

TEST_CASE("hosts in racks are near each other at two scales, the larger first") {
  CHECK(near(linked(8, [](uint32_t a, uint32_t b) {
          if (a / 2 == b / 2) return kWithin;
          return a / 4 == b / 4 ? kWithin / 5 : kWithin / 20;
        })) == Scales{{{0, 1, 2, 3}, {4, 5, 6, 7}}, {{0, 1}, {2, 3}, {4, 5}, {6, 7}}});
}

TEST_CASE("no devices are near each other where links are alike, or form a ring, or take no time") {
  CHECK(near(test::equal_devices(4)).empty());
  CHECK(near(hosts(2, 2, 1.4)).empty());
  CHECK(near(linked(6, [](uint32_t a, uint32_t b) {
          const uint32_t apart = a < b ? b - a : a - b;
          return kWithin / std::min(apart, 6 - apart);
        })).empty());
  CHECK(near(linked(2, [](uint32_t, uint32_t) { return kWithin; })).empty());
  const test::Instance empty = test::build_instance(chains(8, 2, 0), hosts(2, 2));
  REQUIRE(empty.problem);
  CHECK(near_devices(*empty.problem, nullptr).empty());
  // Where transfers never wait, a channel's idle time afterwards is nobody's.
  TopologySpec gaps = hosts(2, 2, 1);
  gaps.contention = Contention::kNone;
  for (LinkSpec& link : gaps.links) link.parameters.gap_us = link.channel.empty() ? 0 : 1'000;
  CHECK(near(gaps).empty());
}

TEST_CASE("a placement on one host costs the same among all, with the channels of its links") {
  TopologySpec topology = hosts(2, 4);
  for (LinkSpec& link : topology.links) {
    if (link.channel.empty()) link.channel = "bus";
  }
  const test::Instance instance = test::build_instance(chains(30, 4, 200), std::move(topology));
  REQUIRE(instance.problem);
  const auto fewer = FewerDevices::of(*instance.problem, {4, 5, 7}, nullptr);
  REQUIRE(fewer != nullptr);
  Random random(3);
  for (int i = 0; i < 20; ++i) {
    const Candidate there{"there", test::random_assignment(fewer->problem(), random), {}};
    CHECK(Evaluator(fewer->problem()).evaluate(there.assignment) ==
          Evaluator(*instance.problem).evaluate(fewer->among_all(there).assignment));
  }
}

TEST_CASE("of equal hosts the one is tried on which rules and memory leave room") {
  const GraphSpec graph = chains(200, 6, 400);
  const auto makespan_us = [&](const TopologySpec& topology, const Rules& rules) {
    const test::Instance instance = test::build_instance(graph, topology, rules);
    REQUIRE(instance.problem);
    const PlaceOutcome placed = place_auto(*instance.problem, {});
    REQUIRE(placed.ok());
    return placed->best.score.objective_us;
  };
  for (const uint32_t host : {0, 1}) {
    CAPTURE(host);
    Rules rules;
    rules.pins = {{.node = 0, .device = 4 * host}};
    CHECK(makespan_us(hosts(2, 4), rules) <= makespan_us(hosts(1, 4), {}));
    TopologySpec small = hosts(2, 4);
    for (uint32_t d = 0; d < 8; ++d) small.devices[d].memory_bytes = d / 4 == host ? 50'000 : 500;
    TopologySpec alone = hosts(1, 4);
    for (DeviceSpec& device : alone.devices) device.memory_bytes = 50'000;
    CHECK(makespan_us(small, {}) <= makespan_us(alone, {}));
  }
}

TEST_CASE("a second host does not make placements worse than the heuristics on the first") {
  uint32_t gained = 0;
  for (const uint64_t bytes : {20, 100, 400, 1'000}) {
    for (const uint32_t each : {2, 4}) {
      CAPTURE(bytes);
      CAPTURE(each);
      const test::Instance both = test::build_instance(chains(200, 6, bytes), hosts(2, each));
      const test::Instance one = test::build_instance(chains(200, 6, bytes), hosts(1, each));
      REQUIRE(both.problem);
      REQUIRE(one.problem);
      const PlaceOutcome placed = place_auto(*both.problem, {});
      REQUIRE(placed.ok());
      for (const Method* method : builtin_methods()) {
        if (!method->in_auto()) continue;
        const PlaceOutcome there = place_with(*one.problem, *method, {});
        REQUIRE(there.ok());
        CHECK(placed->best.score.objective_us <= there->best.score.objective_us);
      }
      gained += placed->best.method == "near";
    }
  }
  CHECK(gained > 0);
}

}  // namespace placeto
