#include "runtime/heuristics/passes.h"

#include <doctest/doctest.h>

#include <algorithm>

#include "runtime/cost/move_evaluator.h"
#include "runtime/search/partition.h"
#include "runtime/timeline/latest_starts.h"
#include "runtime/timeline/order.h"
#include "tests/support/random_problem.h"

namespace placeto {
namespace {

// a0 -> a1 -> ... -> a7 and b0 -> b1 -> ... -> b7, with nothing between them.
GraphSpec two_chains() {
  GraphSpec graph;
  for (const char* chain : {"a", "b"}) {
    for (uint32_t i = 0; i < 8; ++i) {
      const auto v = static_cast<uint32_t>(graph.nodes.size());
      NodeSpec node;
      node.name = chain + std::to_string(i);
      node.cost_us = {10};
      node.outputs = {1'000};
      graph.nodes.push_back(node);
      if (i > 0) graph.edges.push_back({v - 1, 0, v});
    }
  }
  return graph;
}

TopologySpec two_devices(double slowdown) {
  TopologySpec topology;
  topology.default_link.bandwidth_bytes_per_us = 10;
  for (const char* name : {"gpu:0", "gpu:1"}) {
    DeviceSpec device;
    device.name = name;
    device.kind = "gpu";
    topology.devices.push_back(device);
  }
  topology.devices[1].slowdown = slowdown;
  return topology;
}

const test::RandomShape kShape{.most_nodes = 40, .restrictions = true};

}  // namespace

TEST_CASE("a balanced partition keeps together what exchanges tensors") {
  const test::Instance instance = test::build_instance(two_chains(), two_devices(1));
  const Hierarchy hierarchy(*instance.problem);
  const Assignment parts = balanced_partition(*instance.problem, hierarchy);
  for (uint32_t v = 0; v < 8; ++v) {
    CHECK(parts[v] == parts[0]);
    CHECK(parts[8 + v] == parts[8]);
  }
  CHECK(parts[0] != parts[8]);
}

TEST_CASE("a balanced partition gives a slow device its share and little more") {
  const test::Instance instance = test::build_instance(two_chains(), two_devices(4));
  const Hierarchy hierarchy(*instance.problem);
  const Assignment parts = balanced_partition(*instance.problem, hierarchy);
  // At equal finish the slow one would run 3.2 of the 16 nodes; a fifth more is allowed.
  CHECK(std::count(parts.begin(), parts.end(), 1u) <= 3);
}

TEST_CASE("a balanced partition obeys allowed devices and colocation") {
  Random random(51);
  for (uint32_t rules = 0; rules < test::kRuleSets; ++rules) {
    for (int i = 0; i < 10; ++i) {
      const test::Instance instance = test::random_instance(kShape, rules, random);
      if (!instance.problem) continue;
      const Hierarchy hierarchy(*instance.problem);
      CHECK(obeys_rules(*instance.problem, balanced_partition(*instance.problem, hierarchy)));
    }
  }
}

TEST_CASE("passes never lose the best placement they met") {
  Random random(52);
  for (uint32_t rules = 0; rules < test::kRuleSets; ++rules) {
    const test::Instance instance = test::random_instance(kShape, rules, random);
    if (!instance.problem) continue;
    const Problem& problem = *instance.problem;
    Evaluator of_passes(problem);
    Passes passes(of_passes, 1);
    passes.begin("start", test::random_assignment(problem, random));
    Evaluator evaluator(problem);
    for (int pass = 0; pass < 6; ++pass) {
      const Score before = passes.best().score;
      passes.run("pass");
      CHECK(passes.best().score <= before);
      CHECK(passes.best().score == evaluator.evaluate(passes.best().assignment));
      CHECK(obeys_rules(problem, passes.best().assignment));
    }
  }
}

TEST_CASE("a pass over a window changes groups that have a node there, and obeys the rules") {
  Random random(53);
  int proposals = 0, improvements = 0;
  for (uint32_t rules = 0; rules < test::kRuleSets; ++rules) {
    const test::Instance instance = test::random_instance(kShape, rules, random);
    if (!instance.problem) continue;
    CAPTURE(rules);
    const Problem& problem = *instance.problem;
    const Assignment start = test::random_assignment(problem, random);
    MoveEvaluator evaluator(problem);
    const Score before = evaluator.rebase(start);
    const auto order =
        order_by(problem.graph(), evaluator.start_us(), Direction::kAscending, nullptr);
    std::vector<double> latest_start_us;
    find_latest_starts({problem, start, order, evaluator.start_us(), evaluator.finish_us()},
                       latest_start_us);
    EarliestFinish builder(problem);
    MemoryPlan plan(problem);
    Queues run(problem);
    run.load({problem, start, order, evaluator.start_us(), evaluator.finish_us()});
    builder.load(run, {start, latest_start_us}, plan);
    std::vector<Change> changes;
    for (int i = 0; i < 30; ++i) {
      const uint32_t begin = random.below(problem.node_count());
      const Window window{begin, begin + 1 + random.below(problem.node_count() - begin)};
      builder.place_window(window, PassRule::draw(random), EarliestFinish::Keep::kAll, changes);
      std::vector<bool> within(problem.group_count());
      for (uint32_t p = window.begin; p < window.end; ++p) {
        within[problem.group_of(order[p])] = true;
      }
      Assignment changed = start;
      for (const Change& change : changes) {
        CHECK(within[problem.group_of(change.node)]);
        CHECK(change.device != start[change.node]);
        changed[change.node] = change.device;
      }
      CHECK(obeys_rules(problem, changed));
      if (changes.empty()) continue;
      ++proposals;
      improvements += evaluator.evaluate(changes) < before;
    }
  }
  CHECK(proposals > 200);
  CHECK(improvements > 50);
}

TEST_CASE("a pass over the whole timeline is a pass") {
  Random random(54);
  for (uint32_t rules = 0; rules < test::kRuleSets; ++rules) {
    // Every node takes time: a pass lets the others follow what reads them, a window does not.
    const test::Instance instance =
        test::random_instance({.most_nodes = 40, .whole_numbers = false}, rules, random);
    if (!instance.problem || instance.problem->memory_limited()) continue;
    const Problem& problem = *instance.problem;
    const Assignment start = test::random_assignment(problem, random);
    Evaluator evaluator(problem);
    evaluator.evaluate(start);
    const auto order =
        order_by(problem.graph(), evaluator.start_us(), Direction::kAscending, nullptr);
    EarliestFinish builder(problem);
    MemoryPlan plan(problem);
    const PassRule rule{PassRule::Kind::kTransfers, 0.5};
    const Assignment whole = builder.place_all(order, {start, {}}, rule, plan);
    std::vector<Change> changes;
    EarliestFinish window_builder(problem);
    Queues run(problem);
    run.load({problem, start, order, evaluator.start_us(), evaluator.finish_us()});
    window_builder.load(run, {start, {}}, plan);
    window_builder.place_window({0, problem.node_count()}, rule, EarliestFinish::Keep::kAll,
                                changes);
    Assignment changed = start;
    for (const Change& change : changes) changed[change.node] = change.device;
    CHECK(changed == whole);
  }
}

}  // namespace placeto
