#include "runtime/heuristics/packing.h"

#include <doctest/doctest.h>

#include <cmath>

#include "runtime/cost/evaluator.h"
#include "tests/support/random_problem.h"

namespace placeto {
namespace {

using test::weights;

bool fits(const Problem& problem, const Assignment& assignment) {
  Evaluator evaluator(problem);
  return obeys_rules(problem, assignment) && evaluator.evaluate(assignment).feasible();
}

}  // namespace

TEST_CASE("weights that fill every device to the byte are packed, up to 40 of them") {
  Random random(51);
  for (const uint64_t most : {100u, 1'000u, 100'000u, 2'000'000u, 1'000'000'000u}) {
    for (int i = 0; i < 20; ++i) {
      CAPTURE(most);
      CAPTURE(i);
      const uint32_t nodes = 8 + random.below(33), devices = 2 + random.below(7);
      std::vector<uint64_t> sizes, rooms(devices, 0);
      for (uint32_t v = 0; v < nodes; ++v) {
        sizes.push_back(1 + random.below(static_cast<uint32_t>(most)));
        rooms[v < devices ? v : random.below(devices)] += sizes.back();
      }
      const test::Instance instance = weights(sizes, rooms);
      REQUIRE(instance.problem);
      const Packing packing = pack(*instance.problem);
      CHECK(packing.verdict == Packing::Verdict::kFits);
      CHECK(fits(*instance.problem, packing.assignment));
    }
  }
}

// More than all subsets of can be tried: some devices at a time are.
TEST_CASE("weights that nearly fill every device are packed, also more than 40 of them") {
  Random random(54);
  for (int i = 0; i < 40; ++i) {
    CAPTURE(i);
    const uint32_t nodes = 41 + random.below(60), devices = 3 + random.below(10);
    std::vector<uint64_t> sizes, rooms(devices, 0);
    for (uint32_t v = 0; v < nodes; ++v) {
      sizes.push_back(1 + random.below(1'000'000));
      rooms[v < devices ? v : random.below(devices)] += sizes.back();
    }
    for (uint64_t& room : rooms) room += room / 10'000;
    const test::Instance instance = weights(sizes, rooms);
    REQUIRE(instance.problem);
    CHECK(fits(*instance.problem, pack(*instance.problem).assignment));
  }
}

TEST_CASE("a device without a limit does not keep the others from being filled to the byte") {
  Random random(56);
  for (int i = 0; i < 5; ++i) {
    CAPTURE(i);
    const uint32_t nodes = 34;
    GraphSpec graph;
    TopologySpec topology = test::equal_devices(3);
    graph.kinds = {"gpu", "cpu"};
    for (uint32_t d = 0; d < 2; ++d) topology.devices[d].kind = "gpu";
    topology.devices[2].kind = "cpu";
    for (uint32_t v = 0; v < nodes; ++v) {
      graph.nodes.emplace_back();
      graph.nodes.back().name = "n" + std::to_string(v);
      graph.nodes.back().cost_us = {1, -1};
      graph.nodes.back().resident_bytes = (uint64_t{random.below(1u << 31)} << 4) + 1;
      topology.devices[v < 2 ? v : random.below(2)].memory_bytes +=
          graph.nodes.back().resident_bytes;
    }
    const test::Instance instance = test::build_instance(std::move(graph), std::move(topology));
    REQUIRE(instance.problem);
    CHECK(fits(*instance.problem, pack(*instance.problem).assignment));
  }
}

TEST_CASE("nodes without weights that need room beside them do not keep these from being packed") {
  Random random(55);
  for (int i = 0; i < 20; ++i) {
    CAPTURE(i);
    const uint32_t nodes = 20 + random.below(15), devices = 3 + random.below(4);
    GraphSpec graph;
    graph.nodes.resize(nodes + 3);
    TopologySpec topology = test::equal_devices(devices + 1);
    for (uint32_t v = 0; v < graph.nodes.size(); ++v) {
      graph.nodes[v].name = "n" + std::to_string(v);
      graph.nodes[v].cost_us = {1};
    }
    for (DeviceSpec& device : topology.devices) device.memory_bytes = 0;
    for (uint32_t v = 0; v < nodes; ++v) {
      const uint64_t bytes = 1 + random.below(2'000'000);
      graph.nodes[v].resident_bytes = bytes;
      topology.devices[v < devices ? v : random.below(devices)].memory_bytes += bytes;
    }
    for (uint32_t v = nodes; v < graph.nodes.size(); ++v) graph.nodes[v].workspace_bytes = 50;
    topology.devices[devices].memory_bytes = 50;
    const test::Instance instance = test::build_instance(std::move(graph), std::move(topology));
    REQUIRE(instance.problem);
    const Packing packing = pack(*instance.problem);
    CHECK(packing.verdict == Packing::Verdict::kFits);
    CHECK(fits(*instance.problem, packing.assignment));
  }
}

TEST_CASE("what cannot be packed is proved so, with bytes that every placement lacks") {
  // 3 x 60 bytes on two devices of 100: together they fit, but no device holds two.
  Packing packing = pack(*weights({60, 60, 60}, {100, 100}).problem);
  CHECK(packing.verdict == Packing::Verdict::kImpossible);
  CHECK(packing.missing_bytes == 1);
  packing = pack(*weights({60, 60, 130}, {100, 120}).problem);
  CHECK(packing.verdict == Packing::Verdict::kImpossible);
  CHECK(packing.missing_bytes == 30);  // together and alone
  packing = pack(*weights({60, 60, 60, 60}, {100, 100}).problem);
  CHECK(packing.verdict == Packing::Verdict::kImpossible);
  CHECK(packing.missing_bytes == 40);
}

TEST_CASE("what a node holds while no time passes on the clock proves nothing") {
  GraphSpec graph;
  for (const double us : {1e17, 1.0}) {  // the second ends when it starts
    graph.nodes.emplace_back();
    graph.nodes.back().name = "n" + std::to_string(graph.nodes.size());
    graph.nodes.back().cost_us = {us};
  }
  graph.nodes[0].outputs = {1};
  graph.nodes[1].workspace_bytes = 100;
  graph.edges = {{0, 0, 1}};
  TopologySpec topology;
  topology.name = "t";
  topology.devices.emplace_back();
  topology.devices.back().name = topology.devices.back().kind = "gpu";
  topology.devices.back().memory_bytes = 50;
  const test::Instance instance = test::build_instance(std::move(graph), std::move(topology));
  REQUIRE(instance.problem);
  const Packing packing = pack(*instance.problem);
  CHECK(fits(*instance.problem, packing.assignment));
  CHECK(packing.verdict == Packing::Verdict::kFits);
}

TEST_CASE("thousands of weights are packed with a hundredth of the memory to spare") {
  Random random(52);
  std::vector<uint64_t> sizes, rooms(8, 0);
  for (uint32_t v = 0; v < 4'000; ++v) {
    sizes.push_back(1 + random.below(1'000'000));
    rooms[random.below(8)] += sizes.back();
  }
  for (uint64_t& room : rooms) room += room / 100;
  const test::Instance instance = weights(sizes, rooms);
  REQUIRE(instance.problem);
  CHECK(fits(*instance.problem, pack(*instance.problem).assignment));
}

TEST_CASE("a packing obeys the rules, and no verdict of impossible is refuted by a placement") {
  Random random(53);
  int impossible = 0, packed = 0;
  for (int i = 0; i < 200; ++i) {
    GraphSpec graph = test::random_graph({.most_nodes = 8, .restrictions = true}, random);
    TopologySpec topology = test::random_topology({.restrictions = true}, i % 16, random);
    for (DeviceSpec& device : topology.devices) device.memory_bytes = 10 + random.below(70);
    const test::Instance instance = test::build_instance(std::move(graph), std::move(topology));
    if (!instance.problem) continue;
    CAPTURE(i);
    const Packing packing = pack(*instance.problem);
    CHECK(obeys_rules(*instance.problem, packing.assignment));
    packed += packing.verdict == Packing::Verdict::kFits;
    if (packing.verdict != Packing::Verdict::kImpossible) continue;
    ++impossible;
    const uint32_t nodes = instance.problem->node_count();
    const uint32_t devices = instance.problem->device_count();
    const double all = std::pow(devices, nodes);
    for (uint32_t k = 0; k < 100 || (all <= 1'024 && k < all); ++k) {
      Assignment assignment = test::random_assignment(*instance.problem, random);
      if (all <= 1'024) {
        for (uint32_t v = 0, left = k; v < nodes; ++v, left /= devices) {
          assignment[v] = left % devices;
        }
      }
      CHECK(!fits(*instance.problem, assignment));
    }
  }
  CHECK(impossible > 15);
  CHECK(packed > 20);
}

}  // namespace placeto
