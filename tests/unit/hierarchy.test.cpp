#include "runtime/groups/hierarchy.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <set>

#include "runtime/groups/free_nodes.h"
#include "runtime/groups/uncut_parts.h"
#include "tests/support/random_problem.h"

namespace placeto {
namespace {

void check_partition(const Problem& problem, const Hierarchy& hierarchy, uint32_t level) {
  std::vector<bool> seen(problem.node_count(), false);
  for (uint32_t g = 0; g < hierarchy.group_count(level); ++g) {
    CHECK(!hierarchy.nodes(level, g).empty());
    for (uint32_t v : hierarchy.nodes(level, g)) {
      CHECK(!seen[v]);
      seen[v] = true;
      CHECK(hierarchy.group_of(level, v) == g);
    }
    bool any = false;
    for (uint32_t d = 0; d < problem.device_count(); ++d) {
      bool every = true;
      for (uint32_t v : hierarchy.nodes(level, g)) {
        every &= problem.allowed(problem.group_of(v), d);
      }
      CHECK(hierarchy.allowed(level, g, d) == every);
      any |= every;
    }
    CHECK(any);
  }
  CHECK(std::count(seen.begin(), seen.end(), true) == problem.node_count());
}

// Every group of the finer level lies within one group of the coarser level.
void check_nesting(const Hierarchy& hierarchy, uint32_t level) {
  CHECK(hierarchy.group_count(level) < hierarchy.group_count(level - 1));
  for (uint32_t g = 0; g < hierarchy.group_count(level - 1); ++g) {
    std::set<uint32_t> parents;
    for (uint32_t v : hierarchy.nodes(level - 1, g)) parents.insert(hierarchy.group_of(level, v));
    CHECK(parents.size() == 1);
  }
}

GraphSpec plain_nodes(uint32_t count) {
  GraphSpec graph;
  for (uint32_t v = 0; v < count; ++v) {
    graph.nodes.emplace_back();
    graph.nodes.back().name = "n" + std::to_string(v);
    graph.nodes.back().cost_us = {1.0 + v % 7};
    graph.nodes.back().outputs = {100 + v % 5};
  }
  return graph;
}

}  // namespace

TEST_CASE(
    "levels partition the nodes, nest, shrink, keep colocated nodes together and leave every "
    "group a device") {
  Random random(71);
  for (int i = 0; i < 150; ++i) {
    const test::RandomShape shape{.most_nodes = 150, .restrictions = i % 2 == 0};
    const test::Instance instance =
        test::random_instance(shape, random.below(test::kRuleSets), random);
    if (!instance.problem) continue;
    CAPTURE(i);
    const Problem& problem = *instance.problem;
    const Hierarchy hierarchy(problem);
    for (uint32_t level = 0; level < hierarchy.level_count(); ++level) {
      check_partition(problem, hierarchy, level);
      if (level > 0) check_nesting(hierarchy, level);
    }
    // The finest level joins nothing but free nodes.
    const FreeNodes free(problem);
    for (uint32_t v = 0; v < problem.node_count(); ++v) {
      const uint32_t decider = free.decider(problem.group_of(v));
      for (const uint32_t u : hierarchy.nodes(0, hierarchy.group_of(0, v))) {
        CHECK(free.decider(problem.group_of(u)) == decider);
      }
    }
  }
}

TEST_CASE(
    "a constant is in the group of the node that decides about it, if both may share a device") {
  GraphSpec graph = plain_nodes(20);
  for (const uint32_t constant : {0u, 1u}) {
    graph.nodes[constant].cost_us = {0};
    graph.edges.push_back({constant, 0, 5});
  }
  TopologySpec topology = test::equal_devices(2);
  topology.devices[1].kind = "other";
  graph.nodes[1].allowed_kinds = {"other"};
  graph.nodes[5].allowed_kinds = {topology.devices[0].kind};
  const test::Instance instance = test::build_instance(graph, topology);
  REQUIRE(instance.problem);
  const Hierarchy hierarchy(*instance.problem);
  CHECK(hierarchy.group_count(0) == 19);
  CHECK(hierarchy.group_of(0, 0) == hierarchy.group_of(0, 5));
  CHECK(hierarchy.group_of(0, 1) != hierarchy.group_of(0, 5));
}

TEST_CASE("what no placement cuts is merged before anything else") {
  Random random(73);
  int within = 0, across = 0;
  for (int i = 0; i < 60; ++i) {
    const test::RandomShape shape{.most_nodes = 150, .restrictions = i % 2 == 0};
    const test::Instance instance =
        test::random_instance(shape, random.below(test::kRuleSets), random);
    if (!instance.problem) continue;
    CAPTURE(i);
    const Problem& problem = *instance.problem;
    const Assignment a = test::random_assignment(problem, random);
    const Assignment b = test::random_assignment(problem, random);
    const std::span<const uint32_t> both[] = {a, b};
    const std::vector<uint32_t> part = uncut_parts(problem, both, nullptr);
    REQUIRE(part.size() == problem.group_count());
    for (uint32_t v = 0; v < problem.node_count(); ++v) {
      for (const OutEdge& out : problem.graph().out_edges(v)) {
        if (a[v] != a[out.target] || b[v] != b[out.target]) continue;
        CHECK(part[problem.group_of(v)] == part[problem.group_of(out.target)]);
      }
      const uint32_t lowest = problem.members(part[problem.group_of(v)])[0];
      CHECK((a[v] == a[lowest] && b[v] == b[lowest]));
    }
    const Hierarchy hierarchy(problem, nullptr, part);
    bool crossed = false;
    for (uint32_t level = 0; level < hierarchy.level_count(); ++level) {
      check_partition(problem, hierarchy, level);
      if (level > 0) check_nesting(hierarchy, level);
      bool mixed = false;
      for (uint32_t g = 0; g < hierarchy.group_count(level); ++g) {
        const auto nodes = hierarchy.nodes(level, g);
        mixed |= !std::all_of(nodes.begin(), nodes.end(), [&](uint32_t v) {
          return part[problem.group_of(v)] == part[problem.group_of(nodes[0])];
        });
      }
      CHECK((!crossed || mixed));
      crossed = mixed;
      (mixed ? across : within) += level > 0;
    }
  }
  CHECK(within > 40);
  CHECK(across > 40);
}

TEST_CASE("a hierarchy built twice is the same") {
  Random random(72);
  for (int i = 0; i < 20; ++i) {
    const test::Instance instance = test::random_instance({.most_nodes = 100}, 0, random);
    if (!instance.problem) continue;
    const Hierarchy a(*instance.problem), b(*instance.problem);
    REQUIRE(a.level_count() == b.level_count());
    for (uint32_t level = 0; level < a.level_count(); ++level) {
      for (uint32_t v = 0; v < instance.problem->node_count(); ++v) {
        CHECK(a.group_of(level, v) == b.group_of(level, v));
      }
    }
  }
}

// The shapes on which matching along edges alone stalls or goes one pair at a time.
TEST_CASE("chains, stars and isolated nodes all shrink to a few groups per device") {
  constexpr uint32_t kNodes = 5000;
  for (int shape = 0; shape < 4; ++shape) {
    CAPTURE(shape);
    GraphSpec graph = plain_nodes(kNodes);
    for (uint32_t v = 1; v < kNodes; ++v) {
      if (shape == 0) graph.edges.push_back({v - 1, 0, v});
      if (shape == 1) graph.edges.push_back({0, 0, v});
      if (shape == 2) graph.edges.push_back({v, 0, 0});
    }
    const test::Instance instance = test::build_instance(graph, test::equal_devices(4));
    REQUIRE(instance.problem);
    const Hierarchy hierarchy(*instance.problem);
    CHECK(hierarchy.group_count(hierarchy.level_count() - 1) <= 8);
    CHECK(hierarchy.level_count() <= 30);
  }
}

}  // namespace placeto
