#include <doctest/doctest.h>

#include <algorithm>

#include "runtime/cost/move_evaluator.h"
#include "runtime/timeline/critical_path.h"
#include "runtime/timeline/last_input.h"
#include "runtime/timeline/latest_starts.h"
#include "runtime/timeline/loads.h"
#include "runtime/timeline/waiting_chain.h"
#include "tests/support/random_problem.h"

namespace placeto {
namespace {

// Run times in brackets; every edge carries 20 bytes, 2 us between devices. b and d are on the
// second device.
//
//        / b [5] \.
//  a [1]           d [1]     a 0..1   b 3..8   c 1..2   d 8..9
//        \ c [1] /
struct Diamond {
  Diamond() {
    GraphSpec spec;
    spec.name = "diamond";
    for (const double us : {1.0, 5.0, 1.0, 1.0}) {
      spec.nodes.emplace_back();
      spec.nodes.back().name = "n" + std::to_string(spec.nodes.size());
      spec.nodes.back().cost_us = {us};
      spec.nodes.back().outputs = {20};
      spec.nodes.back().resident_bytes = 100;
    }
    spec.edges = {{0, 0, 1}, {0, 0, 2}, {1, 0, 3}, {2, 0, 3}};
    instance = test::build_instance(std::move(spec), test::equal_devices(2));
  }
  const Problem& problem() const { return *instance.problem; }

  test::Instance instance;
  Assignment assignment{0, 1, 0, 1};
};

struct Simulated {
  Simulated(const Problem& problem, const Assignment& assignment) : evaluator(problem) {
    evaluator.rebase(assignment);
    evaluator.start_order(order);
  }
  SimulatedRun run() const {
    return {evaluator.problem(), evaluator.assignment(), order, evaluator.start_us(),
            evaluator.finish_us()};
  }
  double makespan_us() const {
    return *std::max_element(evaluator.finish_us().begin(), evaluator.finish_us().end());
  }

  MoveEvaluator evaluator;
  std::vector<uint32_t> order;
};

template <class Check>
void for_random_runs(Check check) {
  Random random(91);
  for (uint32_t rules = 0; rules < test::kRuleSets; ++rules) {
    for (int i = 0; i < 10; ++i) {
      const test::Instance instance =
          test::random_instance({.most_nodes = 30, .restrictions = true}, rules, random);
      if (!instance.problem) continue;
      CAPTURE(rules);
      CAPTURE(i);
      check(Simulated(*instance.problem, test::random_assignment(*instance.problem, random)));
    }
  }
}

}  // namespace

TEST_CASE("the makespan waits for the path that ends last, and the other one has slack") {
  const Diamond d;
  const Simulated simulated(d.problem(), d.assignment);
  WaitingChain chain;
  chain.update(simulated.evaluator);
  CHECK(std::vector<uint32_t>(chain.nodes().begin(), chain.nodes().end()) ==
        std::vector<uint32_t>{3, 1, 0});
  OrderedSlack slack;
  slack.find(simulated.run(), simulated.makespan_us());
  CHECK(slack.slack_us(0) == 0);
  CHECK(slack.slack_us(1) == 0);
  CHECK(slack.slack_us(2) == doctest::Approx(4));  // its output is at d at 4, d starts at 8
  CHECK(slack.slack_us(3) == 0);
  std::vector<double> latest_start_us;
  find_latest_starts(simulated.run(), latest_start_us);
  CHECK(latest_start_us == std::vector<double>{0, 3, 5, 8});
  const LastInput last = last_input(d.problem(), d.assignment, simulated.evaluator.finish_us(), 3);
  CHECK(last.source == 1);
  CHECK(last.arrival_us == 8);
}

// a and b start at once, c reads what a makes and waits for b: all on one device.
TEST_CASE("what a critical path waits for does not depend on how small its times are") {
  for (const double us : {1e-10, 1.0, 1e6}) {
    CAPTURE(us);
    GraphSpec graph;
    for (const char* name : {"a", "b", "c"}) {
      graph.nodes.emplace_back();
      graph.nodes.back().name = name;
      graph.nodes.back().cost_us = {us};
      graph.nodes.back().outputs = {20};
    }
    graph.edges = {{0, 0, 2}};
    const test::Instance instance = test::build_instance(graph, test::equal_devices(1));
    REQUIRE(instance.problem);
    const Assignment assignment(3, 0);
    Evaluator evaluator(*instance.problem);
    const CriticalPath path =
        critical_path(*instance.problem, assignment, evaluator.timeline(assignment));
    CHECK(path.nodes == std::vector<uint32_t>{0, 1, 2});
  }
}

TEST_CASE("loads are what the nodes of a device take, send and hold, and follow a moved node") {
  const Diamond d;
  Loads loads;
  loads.sum(d.problem(), d.assignment);
  CHECK(loads.run_us == std::vector<double>{2, 6});
  CHECK(loads.egress_us == std::vector<double>{4, 0});
  CHECK(loads.resident_bytes == std::vector<double>{200, 200});
  loads.move(d.problem(), 2, 0, 1);
  CHECK(loads.run_us == std::vector<double>{1, 7});
  CHECK(loads.resident_bytes == std::vector<double>{100, 300});
}

TEST_CASE("a device is busy with the nodes that start in a span of time") {
  const Diamond d;
  const Simulated simulated(d.problem(), d.assignment);
  DeviceRuns runs;
  runs.index(d.problem(), d.assignment, simulated.order, simulated.evaluator.start_us());
  CHECK(runs.busy_us(0, 0, 9) == 2);
  CHECK(runs.busy_us(1, 0, 9) == 6);
  CHECK(runs.busy_us(1, 4, 9) == 1);
  CHECK(runs.busy_us(1, 3, 8) == 5);
  CHECK(runs.busy_us(0, 5, 9) == 0);
}

TEST_CASE("the chain of waiting leads from the last finish to a node that waits for nothing") {
  for_random_runs([](const Simulated& simulated) {
    WaitingChain chain;
    chain.update(simulated.evaluator);
    REQUIRE(!chain.nodes().empty());
    const auto finish = simulated.evaluator.finish_us(), start = simulated.evaluator.start_us();
    CHECK(finish[chain.nodes().front()] == simulated.makespan_us());
    CHECK(simulated.evaluator.problem().graph().in_edges(chain.nodes().back()).empty());
    for (size_t i = 1; i < chain.nodes().size(); ++i) {
      CHECK(start[chain.nodes()[i]] <= start[chain.nodes()[i - 1]]);
    }
  });
}

TEST_CASE("a fixed order of devices leaves no more slack than free devices") {
  for_random_runs([](const Simulated& simulated) {
    std::vector<double> latest_start_us;
    find_latest_starts(simulated.run(), latest_start_us);
    OrderedSlack slack;
    slack.find(simulated.run(), simulated.makespan_us());
    const double rounding = 1e-9 * (1 + simulated.makespan_us());
    for (uint32_t v = 0; v < latest_start_us.size(); ++v) {
      const double free_us = latest_start_us[v] - simulated.evaluator.start_us()[v];
      CHECK(free_us >= -rounding);
      CHECK(slack.slack_us(v) <= free_us + rounding);
    }
  });
}

}  // namespace placeto
