#include "runtime/groups/free_nodes.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "runtime/groups/hierarchy.h"
#include "runtime/placer/methods.h"
#include "runtime/search/window_pass.h"
#include "tests/support/random_problem.h"
#include "tests/unit/workloads_support.h"
#include "tools/io/read.h"

namespace placeto {
namespace {

// weights   w0    w1    w2   ...  take no time; each shares the device of the step that reads it
//            |     |     |
// steps     s0 -> s1 -> s2 ...    tensors between steps take longer than the steps
test::Instance chain_with_weights(uint32_t steps) {
  GraphSpec graph;
  for (uint32_t i = 0; i < 2 * steps; ++i) {
    NodeSpec node;
    const bool step = i >= steps;
    node.name = (step ? "s" : "w") + std::to_string(i % steps);
    node.cost_us = {step ? 10.0 : 0.0};
    node.outputs = {step ? 1'000u : 10u};
    node.colocate = "c" + std::to_string(i % steps);
    graph.nodes.push_back(node);
  }
  for (uint32_t i = 0; i < steps; ++i) {
    graph.edges.push_back({i, 0, steps + i});
    if (i > 0) graph.edges.push_back({steps + i - 1, 0, steps + i});
  }
  return test::build_instance(graph, test::equal_devices(4));
}

// Every parameter a node of its own, as exported graphs have them, that shares the device of its
// reader.
GraphSpec parameters_apart(GraphSpec graph) {
  const auto nodes = static_cast<uint32_t>(graph.nodes.size());
  for (uint32_t v = 0; v < nodes; ++v) {
    NodeSpec& reader = graph.nodes[v];
    if (reader.resident_bytes == 0) continue;
    if (reader.colocate.empty()) reader.colocate = "parameter " + std::to_string(v);
    NodeSpec parameter;
    parameter.name = reader.name + "/parameter";
    parameter.cost_us.assign(std::max<size_t>(1, graph.kinds.size()), 0);
    parameter.colocate = reader.colocate;
    parameter.outputs = {reader.resident_bytes};
    parameter.resident_bytes = std::exchange(reader.resident_bytes, 0);
    graph.edges.push_back({static_cast<uint32_t>(graph.nodes.size()), 0, v});
    graph.nodes.push_back(std::move(parameter));
  }
  return graph;
}

}  // namespace

TEST_CASE("weights do not take the steps that read them to an idle device") {
  const test::Instance instance = chain_with_weights(12);
  REQUIRE(instance.problem);
  const double single_us = find_method("single")->place(*instance.problem, {})->score.objective_us;
  for (const char* method : {"heft", "etf", "iterate"}) {
    CAPTURE(method);
    const Result<Candidate> candidate = find_method(method)->place(*instance.problem, {});
    REQUIRE(candidate.ok());
    CHECK(candidate->score.objective_us <= single_us);
  }
}

TEST_CASE("a colocated set is decided by what it does to all its members, on graphs of networks") {
  for (const char* name : {"resnet50", "inception_v3", "bert_base", "nmt"}) {
    for (const char* topology : {"2xk80", "cpu+gpu", "2x4-gpu-two-hosts"}) {
      CAPTURE(name);
      CAPTURE(topology);
      WorkloadOptions options;
      options.training = true;  // colocates what belongs to one parameter
      if (std::string_view(name) == "nmt") options.length = 8;
      const test::Instance instance =
          test::build_instance(parameters_apart(generated(name, options)),
                               read_topology_spec(PLACETO_SOURCE_DIR "/models/topologies/" +
                                                  std::string(topology) + ".json")
                                   .value());
      REQUIRE(instance.problem);
      const auto us = [&](const char* method) {
        return find_method(method)->place(*instance.problem, {})->score.objective_us;
      };
      CHECK(us("heft") <= 1.15 * us("single"));
      CHECK(us("etf") <= 1.15 * us("single"));
    }
  }
}

// a, on whose long way to another device much is lost, and a set of a short step that could start
// at once and of a long one that waits for both.
TEST_CASE("a colocated set goes where its heaviest member does, not where its first one could") {
  GraphSpec graph;
  for (const auto& [name, cost_us] : {std::pair{"a", 100.0}, {"short", 1.0}, {"long", 100.0}}) {
    NodeSpec node;
    node.name = name;
    node.cost_us = {cost_us};
    node.outputs = {name == std::string_view("a") ? 5'000u : 0u};
    node.colocate = node.name == "a" ? "" : "set";
    graph.nodes.push_back(node);
  }
  graph.edges = {{0, 0, 2}, {1, 0, 2}};
  const test::Instance instance = test::build_instance(graph, test::equal_devices(2));
  REQUIRE(instance.problem);
  for (const char* method : {"heft", "etf"}) {
    CAPTURE(method);
    const Result<Candidate> candidate = find_method(method)->place(*instance.problem, {});
    REQUIRE(candidate.ok());
    CHECK(candidate->score.objective_us == 201);
  }
}

TEST_CASE("free nodes are those that take no time, wait for none but their like and are read") {
  GraphSpec graph;
  for (const double us : {0.0, 0.0, 0.0, 5.0, 0.0, 0.0}) {
    graph.nodes.emplace_back();
    graph.nodes.back().name = "n" + std::to_string(graph.nodes.size());
    graph.nodes.back().cost_us = {us};
    graph.nodes.back().outputs = {1};
  }
  // 0 -> 1 -> 3 -> 4, 2 -> 4; 5 is alone
  graph.edges = {{0, 0, 1}, {1, 0, 3}, {3, 0, 4}, {2, 0, 4}};
  const test::Instance instance = test::build_instance(graph, test::equal_devices(2));
  REQUIRE(instance.problem);
  const FreeNodes free(*instance.problem);
  const bool expected[] = {true, true, true, false, false, false};
  for (uint32_t v = 0; v < 6; ++v) {
    CAPTURE(v);
    CHECK(free.contains(v) == expected[v]);
  }
  // Node 4 reads node 2, node 3 is needed first of what reads 0 and 1.
  const uint32_t deciders[] = {3, 3, 4, 3, 4, 5};
  for (uint32_t v = 0; v < 6; ++v) CHECK(free.decider(v) == deciders[v]);
  CHECK(std::ranges::equal(free.followers(3), std::array{0u, 1u}));
  CHECK(std::ranges::equal(free.followers(4), std::array{2u}));
  CHECK(free.followers(5).empty());
}

TEST_CASE("free nodes are in the group of what decides about them, and windows take them along") {
  Random random(61);
  int followers = 0, taken_along = 0;
  for (uint32_t i = 0; i < 400; ++i) {
    const test::RandomShape shape{.most_nodes = 30, .restrictions = i % 2 == 0};
    const test::Instance instance = test::random_instance(shape, i % test::kRuleSets, random);
    if (!instance.problem) continue;
    CAPTURE(i);
    const Problem& problem = *instance.problem;
    const FreeNodes free(problem);
    const Hierarchy hierarchy(problem);
    Assignment before = test::random_assignment(problem, random);
    const auto follows = [&](uint32_t g, const Assignment& assignment) {
      const uint32_t device = assignment[problem.members(free.decider(g))[0]];
      return !problem.allowed(g, device) || assignment[problem.members(g)[0]] == device;
    };
    for (uint32_t g = 0; g < problem.group_count(); ++g) {
      const uint32_t decider = problem.members(free.decider(g))[0], first = problem.members(g)[0];
      if (free.decider(g) == g) continue;
      ++followers;
      if (problem.allowed(g, before[decider])) {
        for (const uint32_t v : problem.members(g)) before[v] = before[decider];
      }
      bool all_allowed = true;
      for (uint32_t d = 0; d < problem.device_count(); ++d) {
        all_allowed &= problem.allowed(g, d) && problem.allowed(free.decider(g), d);
      }
      if (all_allowed && problem.device_count() > 1) {
        CHECK(hierarchy.group_of(0, first) == hierarchy.group_of(0, decider));
      }
    }
    MoveEvaluator evaluator(problem);
    evaluator.rebase(before);
    CurrentRun run(evaluator);
    WindowPass windows(run);
    std::vector<Change> changes;
    for (int draw = 0; draw < 10; ++draw) {
      windows.propose(random, changes);
      Assignment after = before;
      for (const Change& change : changes) after[change.node] = change.device;
      CHECK(obeys_rules(problem, after));
      for (uint32_t g = 0; g < problem.group_count(); ++g) {
        const uint32_t first = problem.members(g)[0];
        if (before[first] != before[problem.members(free.decider(g))[0]]) continue;
        CHECK(follows(g, after));
        taken_along += free.decider(g) != g && after[first] != before[first];
      }
    }
  }
  CHECK(followers > 100);
  CHECK(taken_along > 100);
}

}  // namespace placeto
