#include "trainer/data/families.h"

#include <doctest/doctest.h>

#include <set>
#include <string>

#include "runtime/placer/placer.h"
#include "trainer/data/contract.h"
#include "trainer/data/merge.h"

using namespace placeto;
using namespace placeto::train;

namespace {

// Operators, run times and edges as text.
std::string print_of(const Instance& instance) {
  std::string print;
  for (uint32_t v = 0; v < instance.problem->node_count(); ++v) {
    print += instance.graph->node(v).op + std::to_string(instance.problem->mean_run_us(v));
    for (const OutEdge& e : instance.graph->out_edges(v)) print += ">" + std::to_string(e.target);
  }
  return print;
}

double makespan_us(const Instance& instance, std::span<const uint32_t> placement) {
  Evaluator evaluator(judged_problem(instance));
  return judge(instance, placement, evaluator).objective_us;
}

}  // namespace

TEST_CASE("a data set has sixteen graphs to train on and sixteen others") {
  for (const std::string_view name : kFamilyNames) {
    CAPTURE(name);
    std::set<std::string> prints;
    for (const Half half : {Half::kSeen, Half::kUnseen}) {
      for (uint32_t i = 0; i < kFamilyGraphs; ++i) {
        const Instance instance = family_problem(name, half, i, {});
        CHECK(instance.family == name);
        CHECK(instance.problem->device_count() == 2);
        prints.insert(print_of(instance));
      }
    }
    CHECK(prints.size() == 2 * kFamilyGraphs);
  }
}

TEST_CASE("merging leaves a graph of the asked size that takes as long on one device") {
  for (const std::string_view name : kFamilyNames) {
    CAPTURE(name);
    const Instance operators = family_problem(name, Half::kSeen, 3, {});
    const Instance merged = family_problem(name, Half::kSeen, 3, {.devices = 2, .groups = 64});
    REQUIRE(merged.merged);
    CHECK(merged.problem->node_count() <= 64);
    CHECK(operators.problem->node_count() > 128);
    const Assignment one(merged.problem->node_count(), 0);
    const double grouped = Evaluator(*merged.problem).timeline(one).makespan_us;
    CHECK(grouped == doctest::Approx(makespan_us(merged, one)));
  }
}

TEST_CASE("a placement of groups is one of the operators, and obeys their rules") {
  const Instance merged = family_problem("nmt", Half::kUnseen, 5, {.devices = 4, .groups = 48});
  const Result<PlaceResult> placed = place_auto(*merged.problem, {});
  REQUIRE(placed.ok());
  const Assignment operators = place_operators(merged, placed->best.assignment);
  CHECK(obeys_rules(*merged.merged->operators.problem, operators));
  // Groups wait until all of their operators have run: the merged graph is no faster, but for the
  // order of transfers.
  const double ungrouped = makespan_us(merged, placed->best.assignment);
  CHECK(ungrouped < 1.05 * placed->best.score.objective_us);
  CHECK(ungrouped > 0.3 * placed->best.score.objective_us);
}

TEST_CASE("merging keeps all work and all resident bytes") {
  const Instance merged = family_problem("ptb", Half::kSeen, 0, {.devices = 2, .groups = 32});
  const auto resident = [](const Graph& graph) {
    uint64_t sum = 0;
    for (uint32_t v = 0; v < graph.node_count(); ++v) sum += graph.node(v).resident_bytes;
    return sum;
  };
  CHECK(resident(*merged.graph) == resident(*merged.merged->operators.graph));
}

TEST_CASE(
    "contraction joins only operators of one device, and leaves no cycle and many decisions") {
  for (const std::string_view name : kFamilyNames) {
    CAPTURE(name);
    const Instance operators = family_problem(name, Half::kSeen, 1, {});
    const std::vector<uint32_t> group_of = contract(*operators.problem, 250);
    REQUIRE(group_of.size() == operators.problem->node_count());
    // Building the merged graph fails if the groups wait for each other.
    const Instance merged = family_problem(name, Half::kSeen, 1, {.devices = 2, .groups = 250});
    CHECK(merged.merged->group_of == group_of);
    CHECK(merged.problem->node_count() <= 250);
    CHECK(merged.problem->node_count() > 50);
    CHECK(merged.problem->group_count() > 30);
  }
}
