#include "trainer/eval/sampled.h"

#include <doctest/doctest.h>

#include <cmath>
#include <functional>
#include <span>
#include <string_view>

#include "runtime/cost/evaluator.h"
#include "trainer/base/parallel.h"
#include "trainer/data/families.h"
#include "trainer/data/merge.h"
#include "trainer/eval/hierarchical_placer.h"
#include "trainer/eval/rnn_placer.h"
#include "trainer/eval/trained_placer.h"

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

// Placers that are trained on the problem itself, sampling about `placements`.
struct Placer {
  const char* name;
  std::function<Sampled(const Instance&, uint32_t placements)> place;
};
const Placer kPlacers[] = {
    {"rnn", [](const Instance& instance,
               uint32_t placements) { return place_by_rnn(instance, {.placements = placements}); }},
    {"hierarchical",
     [](const Instance& instance, uint32_t placements) {
       return place_by_hierarchy(instance, {.placements = placements}, 8);
     }},
    {"trained",
     [](const Instance& instance, uint32_t placements) {
       return *place_by_training(instance, {.placements = placements});
     }},
};

TEST_CASE("sampling placers find out that independent chains are best apart") {
  const Instance instance = four_chains();
  for (const Placer& placer : kPlacers) {
    CAPTURE(std::string(placer.name));
    const Sampled placed = placer.place(instance, 2'000);
    const double single_us = Evaluator(*instance.problem).timeline(Assignment(16, 0)).makespan_us;
    CHECK(placed.makespan_us < 0.85 * single_us);
    CHECK(Evaluator(*instance.problem).timeline(placed.assignment).makespan_us ==
          doctest::Approx(placed.makespan_us));
    const Sampled::Point best = placed.best_within(placed.curve.back().placements);
    CHECK(best.best_us == placed.makespan_us);
    CHECK(best.placements > 0);
    CHECK(placed.best_within(best.placements - 1).best_us > placed.makespan_us);
  }
}

TEST_CASE("sampling placers give the same placement for the same seed, and obey colocation") {
  const Instance instance = family_problem("nmt", Half::kSeen, 0, {.devices = 2, .groups = 24});
  for (const Placer& placer : kPlacers) {
    CAPTURE(std::string(placer.name));
    const bool of_operators = std::string_view(placer.name) == "hierarchical";
    const Instance& places = of_operators ? instance.merged->operators : instance;
    const Sampled a = placer.place(places, 40), b = placer.place(places, 40);
    CHECK(a.assignment == b.assignment);
    CHECK(obeys_rules(*places.problem, a.assignment));
    Evaluator evaluator(judged_problem(places));
    CHECK(judge(places, a.assignment, evaluator).objective_us == doctest::Approx(a.makespan_us));
  }
}

TEST_CASE("sampling placers learn: what they sample later is better than what they began with") {
  const Instance instance = four_chains();
  for (const Placer& placer : kPlacers) {
    CAPTURE(std::string(placer.name));
    const Sampled placed = placer.place(instance, 4'000);
    const auto mean = [](std::span<const Sampled::Point> points) {
      double sum = 0;
      for (const Sampled::Point& point : points) sum += point.mean_reward;
      return sum / static_cast<double>(points.size());
    };
    const std::span<const Sampled::Point> curve = placed.curve;
    REQUIRE(curve.size() >= 40);
    const double first = mean(curve.first(20)), last = mean(curve.last(20));
    CAPTURE(first);
    CAPTURE(last);
    CHECK(last > first + 0.15 * std::abs(first));
  }
}

TEST_CASE("a judge's advantages are rewards above their moving average, and its best is kept") {
  const Instance instance = four_chains();
  SampleJudge judge(instance, 0.5);
  const Assignment one(16, 0);
  Assignment halves(16, 0);
  for (uint32_t v = 8; v < 16; ++v) halves[v] = 1;
  CHECK(judge.advantages(std::vector{one, one}) == std::vector<float>{0, 0});
  const std::vector<float> better = judge.advantages(std::vector{halves, one});
  CHECK(better[0] > 0);
  CHECK(better[1] == doctest::Approx(0));
  CHECK(judge.advantages(std::vector<Assignment>{one})[0] < 0);  // the average has risen
  CHECK(judge.sampled().assignment == halves);
  CHECK(judge.sampled().best_within(5).placements == 4);
  CHECK(judge.sampled().best_within(3).placements == 2);
  CHECK(std::isinf(judge.sampled().best_within(1).best_us));  // a batch is of two
  CHECK(judge.sampled().curve[1].mean_reward > judge.sampled().curve[0].mean_reward);
}

TEST_CASE("sampling placers do not depend on what other threads do") {
  const Instance instance = four_chains();
  for (const Placer& placer : kPlacers) {
    CAPTURE(std::string(placer.name));
    const Sampled alone = placer.place(instance, 40);
    std::vector<Sampled> together(8);
    parallel_for(8, 4, [&](uint32_t i) { together[i] = placer.place(instance, 40); });
    for (const Sampled& other : together) {
      REQUIRE(other.curve.size() == alone.curve.size());
      for (size_t i = 0; i < alone.curve.size(); ++i) {
        CHECK(other.curve[i].best_us == alone.curve[i].best_us);
        CHECK(other.curve[i].mean_reward == alone.curve[i].mean_reward);
      }
      CHECK(other.assignment == alone.assignment);
    }
  }
}
