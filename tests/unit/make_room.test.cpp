#include "runtime/search/make_room.h"

#include <doctest/doctest.h>

#include <cmath>

#include "runtime/cost/simulator.h"
#include "runtime/search/search.h"
#include "tests/support/random_problem.h"

namespace placeto {

//   device   0        1        2
//   holds    60 30    50 40    10
//   of       100      100      100
TEST_CASE("whoever comes where memory is full is made room for, with as little as is enough") {
  const test::Instance instance = test::weights({60, 30, 50, 40, 10}, {100, 100, 100});
  REQUIRE(instance.problem);
  MoveEvaluator evaluator(*instance.problem);
  evaluator.rebase(Assignment{0, 0, 1, 1, 2});
  MakeRoom make_room(evaluator);
  Random random(1);
  std::vector<Change> changes{{1, 1}};  // 120 of 100 there
  make_room.mend(random, changes);
  REQUIRE(changes.size() == 2);
  CHECK(changes[1].node == 3);
  CHECK(changes[1].device != 1);
  CHECK(evaluator.evaluate(changes).feasible());
}

TEST_CASE("nothing is added, and no number drawn, where there is room or nobody could leave") {
  Random random(1);
  for (const uint64_t limit : {1'000, 61}) {
    const test::Instance instance = test::weights({60, 30, 1}, {limit, 59});
    REQUIRE(instance.problem);
    MoveEvaluator evaluator(*instance.problem);
    evaluator.rebase(Assignment{0, 1, 1});
    MakeRoom make_room(evaluator);
    std::vector<Change> changes{{1, 0}, {2, 0}};
    Random untouched = random;
    make_room.mend(random, changes);
    CHECK(changes.size() == 2);
    if (limit == 1'000) CHECK(random.below(1'000'000) == untouched.below(1'000'000));
  }
}

// Limits that a random placement keeps to the byte, and hardly another one: without room made for
// those who come, none of these searches ever leaves it.
TEST_CASE("a search gets away from a placement that fills every device") {
  Random random(97);
  double sum = 0;
  int count = 0;
  for (int i = 0; i < 30; ++i) {
    const test::RandomShape shape{.most_nodes = 80, .most_devices = 6};
    GraphSpec graph = test::random_graph(shape, random);
    TopologySpec topology = test::random_topology(shape, 0, random);
    if (graph.nodes.size() < 30 || topology.devices.size() < 3) continue;
    for (NodeSpec& node : graph.nodes) node.resident_bytes = 100 + random.below(900);
    const test::Instance heavy = test::build_instance(graph, topology);
    if (!heavy.problem) continue;
    const Assignment start = test::random_assignment(*heavy.problem, random);
    Simulator simulator(*heavy.problem);
    const std::vector<uint64_t>& peaks = simulator.run(start).peak_memory_bytes;
    for (uint32_t d = 0; d < topology.devices.size(); ++d) {
      topology.devices[d].memory_bytes = std::max<uint64_t>(1, peaks[d]);
    }
    const test::Instance tight = test::build_instance(graph, topology);
    REQUIRE(tight.problem);
    MoveEvaluator evaluator(*tight.problem);
    Candidate found{"search", start, {}};
    const double before_us = evaluator.rebase(start).objective_us;
    adaptive_search(Hierarchy(*tight.problem), {.evaluations = 1'000}, 1, evaluator, found);
    CHECK(found.score.feasible());
    sum += std::log(found.score.objective_us / before_us);
    ++count;
  }
  REQUIRE(count > 10);
  CHECK(std::exp(sum / count) < 0.95);
}

}  // namespace placeto
