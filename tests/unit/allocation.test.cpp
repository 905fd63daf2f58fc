// Replaces operator new to count: evaluations must not allocate once a workspace is warm.
#include <doctest/doctest.h>

#include <cstdlib>
#include <new>

#include "runtime/cost/incremental.h"
#include "runtime/cost/move_evaluator.h"
#include "tests/support/random_problem.h"

namespace {
size_t allocations = 0;

void* counted(size_t bytes) {
  ++allocations;
  void* memory = std::malloc(bytes == 0 ? 1 : bytes);
  if (memory == nullptr) std::abort();
  return memory;
}
}  // namespace

void* operator new(size_t bytes) {
  return counted(bytes);
}
void* operator new[](size_t bytes) {
  return counted(bytes);
}
void* operator new(size_t bytes, const std::nothrow_t&) noexcept {  // std::stable_sort's buffer
  return counted(bytes);
}
void operator delete(void* memory) noexcept {
  std::free(memory);
}
void operator delete[](void* memory) noexcept {
  std::free(memory);
}
void operator delete(void* memory, size_t) noexcept {
  std::free(memory);
}
void operator delete[](void* memory, size_t) noexcept {
  std::free(memory);
}

namespace placeto {
namespace {

template <class Act>
size_t allocations_during(Act act) {
  const size_t before = allocations;
  act();
  return allocations - before;
}

// Calls act(instance, placements) on graphs of every rule set; the first placement has everything
// on one device where allowed, so that later ones have more transfers than it.
template <class Act>
void on_each_rule_set(uint32_t rule_sets, Act act) {
  Random random(51);
  for (uint32_t rules = 0; rules < rule_sets; ++rules) {
    for (int i = 0; i < 20; ++i) {
      GraphSpec graph = test::random_graph({.most_nodes = 60, .most_devices = 6}, random);
      TopologySpec topology = test::random_topology({.most_devices = 6}, rules, random);
      for (DeviceSpec& device : topology.devices) device.memory_bytes = 1 + random.below(500);
      const test::Instance instance = test::build_instance(std::move(graph), std::move(topology));
      REQUIRE(instance.problem);
      std::vector<Assignment> placements{Assignment(instance.problem->node_count(), 0)};
      for (int k = 0; k < 10; ++k) {
        placements.push_back(test::random_assignment(*instance.problem, random));
      }
      act(*instance.problem, placements);
    }
  }
}

}  // namespace

TEST_CASE("the counter counts") {
  CHECK(allocations_during([] { delete new int(1); }) > 0);
}

TEST_CASE("a simulator allocates nothing after its first makespan") {
  on_each_rule_set(test::kRuleSets, [](const Problem& problem, const auto& placements) {
    Simulator simulator(problem);
    simulator.makespan_us(placements[0]);
    CHECK(allocations_during([&] {
            for (const Assignment& a : placements) simulator.makespan_us(a);
          }) == 0);
  });
}

TEST_CASE("a simulator allocates nothing for timelines after its first timeline") {
  on_each_rule_set(test::kRuleSets, [](const Problem& problem, const auto& placements) {
    Simulator simulator(problem);
    simulator.run(placements[0]);
    CHECK(allocations_during([&] {
            for (const Assignment& a : placements) simulator.run(a);
          }) == 0);
  });
}

TEST_CASE("an evaluator allocates nothing after its first evaluation, memory included") {
  on_each_rule_set(test::kRuleSets, [](const Problem& problem, const auto& placements) {
    Evaluator evaluator(problem);
    evaluator.evaluate(placements[0]);
    CHECK(allocations_during([&] {
            for (const Assignment& a : placements) evaluator.evaluate(a);
          }) == 0);
  });
}

TEST_CASE("an incremental simulator allocates nothing after a walk over the whole graph") {
  on_each_rule_set(8, [](const Problem& problem, const auto& placements) {
    IncrementalSimulator incremental(problem);
    incremental.rebase(placements[1]);
    std::vector<Change> change(1);
    const auto walk = [&] {
      for (uint32_t v = 0; v < problem.node_count(); ++v) {
        for (uint32_t d = 0; d < problem.device_count(); ++d) {
          change[0] = {v, d};
          incremental.evaluate(change);
        }
      }
    };
    walk();
    CHECK(allocations_during(walk) == 0);
  });
}

TEST_CASE("a move evaluator allocates nothing after a walk over the whole graph") {
  on_each_rule_set(test::kRuleSets, [](const Problem& problem, const auto& placements) {
    MoveEvaluator moves(problem);
    moves.rebase(placements[1]);
    std::vector<Change> change(1);
    const auto walk = [&] {
      for (uint32_t v = 0; v < problem.node_count(); ++v) {
        change[0] = {v, (placements[1][v] + 1) % problem.device_count()};
        moves.evaluate(change);
      }
    };
    walk();
    CHECK(allocations_during(walk) == 0);
  });
}

}  // namespace placeto
