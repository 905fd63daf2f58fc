#include "trainer/eval/rnn_placer.h"

#include <doctest/doctest.h>

#include "runtime/cost/evaluator.h"
#include "trainer/data/families.h"
#include "trainer/data/merge.h"

using namespace placeto;
using namespace placeto::train;

namespace {

// Four chains of equal work that exchange nothing: 2 + 2 is best, a quarter of all placements of
// the chains on two devices have it.
Instance four_chains() {
  GraphSpec graph;
  for (uint32_t chain = 0; chain < 4; ++chain) {
    for (uint32_t i = 0; i < 4; ++i) {
      const uint32_t v = chain * 4 + i;
      NodeSpec node;
      node.name = "n" + std::to_string(v);
      node.op = "Work";
      node.cost_us = {100};
      node.outputs = {7'600'000};  // a millisecond
      graph.nodes.push_back(node);
      if (i > 0) graph.edges.push_back({v - 1, 0, v});
    }
  }
  Result<Instance> instance = make_instance("chains", graph, k80_topology(2));
  REQUIRE(instance.ok());
  return std::move(*instance);
}

}  // namespace

TEST_CASE("the RNN placer learns: its later placements are better than its first") {
  const Instance instance = four_chains();
  RnnOptions options;
  options.placements = 600;
  const RnnPlacement placed = place_by_rnn(instance, options);
  REQUIRE(placed.curve.size() == 60);
  CHECK(placed.curve.back().first == 600);
  CHECK(placed.curve.back().second < 0.7 * placed.curve.front().second);
  CHECK(Evaluator(*instance.problem).timeline(placed.assignment).makespan_us ==
        doctest::Approx(placed.makespan_us));
}

TEST_CASE("the RNN placer gives the same placement for the same seed, and obeys colocation") {
  const Instance instance = family_problem("nmt", Half::kSeen, 0, {.devices = 2, .groups = 24});
  RnnOptions options;
  options.placements = 40;
  const RnnPlacement a = place_by_rnn(instance, options), b = place_by_rnn(instance, options);
  CHECK(a.assignment == b.assignment);
  CHECK(obeys_rules(*instance.problem, a.assignment));
  CHECK(operators_makespan_us(instance, a.assignment) == doctest::Approx(a.makespan_us));
}
