#include "trainer/published/episode.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>

#include "runtime/cost/evaluator.h"
#include "tests/trainer/support.h"
#include "trainer/algorithms/siblings.h"
#include "trainer/data/families.h"
#include "trainer/published/learner.h"
#include "trainer/train/export.h"

using namespace placeto;
using namespace placeto::train;

namespace {

std::shared_ptr<const Policy> untrained(const Config& config) {
  const PublishedLearner learner(config.placeto, config.data.devices, 3);
  const auto bytes = export_policy(learner.policy(), config, "", 0);
  REQUIRE(bytes.ok());
  return *load_exported(*bytes);
}

Course course(const Config& config, uint64_t seed) {
  DataConfig data = config.data;
  data.max_devices = config.data.devices;
  std::optional<Course> found = make_course(draw_problem(data, seed));
  REQUIRE(found.has_value());
  return std::move(*found);
}

}  // namespace

TEST_CASE("returns are what the cost decreases by from each step to the end") {
  const Config config = test::small_placeto_config("siblings");
  const Course c = course(config, 5);
  const Episode e = run_episode(c, *untrained(config), {.start = Start::kRandom});
  REQUIRE(e.steps() == c.instance.problem->group_count());
  const std::vector<float> returns = e.returns();
  float sum = 0;  // of the rewards, backwards
  for (uint32_t t = e.steps(); t-- > 0;) {
    sum += static_cast<float>(e.cost[t] - e.cost[t + 1]);
    CHECK(returns[t] == doctest::Approx(sum).epsilon(1e-4));
  }
  CHECK(e.best_cost <= *std::min_element(e.cost.begin(), e.cost.end()));
  const std::vector<float> near = e.returns(0);  // the next reward alone
  for (uint32_t t = 0; t < e.steps(); ++t) {
    CHECK(near[t] == doctest::Approx(e.cost[t] - e.cost[t + 1]).epsilon(1e-4));
  }
}

TEST_CASE("an episode from the best heuristic starts at cost 1, and greedy ones end no worse") {
  const Config config = test::small_placeto_config("siblings");
  const Course c = course(config, 6);
  EpisodeOptions options;
  options.sample = false;
  const Episode e = run_episode(c, *untrained(config), options);
  CHECK(e.cost[0] == doctest::Approx(1));
  CHECK(e.best_cost <= 1);
}

TEST_CASE("gains are exact: what the cost would be had the step chosen that device") {
  Config config = test::small_placeto_config("siblings");
  config.data.devices = 3;
  DataConfig data = config.data;
  data.max_devices = 3;
  uint32_t compared = 0;
  for (uint64_t seed = 0; seed < 12; ++seed) {
    Instance instance = draw_problem(data, seed);
    if (instance.problem->device_count() != 3) continue;
    const std::optional<Course> c = make_course(std::move(instance));
    if (!c) continue;
    EpisodeOptions options{.start = Start::kSingle, .seed = seed, .gains = true};
    const Episode e = run_episode(*c, *untrained(config), options);
    Assignment now = c->single.assignment;
    const Problem& problem = *c->instance.problem;
    Evaluator evaluator(problem);
    for (uint32_t t = 0; t < e.steps(); ++t) {
      for (uint32_t d = 0; d < 3; ++d) {
        if (!e.mask[t * 3 + d]) continue;
        Assignment other = now;
        for (uint32_t v : problem.members(problem.group_of(e.node[t]))) other[v] = d;
        const Score score = evaluator.evaluate(other);
        if (!score.feasible()) continue;
        CHECK(e.gains[t * 3 + d] ==
              doctest::Approx(e.cost[t] - score.objective_us / c->reference_us).epsilon(1e-4));
        ++compared;
      }
      for (uint32_t v : problem.members(problem.group_of(e.node[t]))) now[v] = e.choice[t];
    }
  }
  CHECK(compared > 100);
}

// What ships is what was trained, for this architecture, too (parity.test.cpp has `pairwise`).
TEST_CASE("an exported placeto policy scores recorded steps as the network in LibTorch does") {
  Config config = test::small_placeto_config("siblings");
  config.placeto.rounds = 8;
  config.placeto.averaging = 0;
  PublishedLearner learner(config.placeto, 2, 3);
  std::optional<Course> c = make_course(family_problem("nmt", Half::kSeen, 1, {.groups = 100}));
  REQUIRE(c.has_value());
  const uint32_t graph = learner.add_graph(*c->instance.problem);
  float most = 0, largest = 0;
  size_t compared = 0;
  for (int round = 0; round < 4; ++round) {
    const auto bytes = export_policy(learner.policy(), config, "", 0);
    REQUIRE(bytes.ok());
    const auto policy = load_exported(*bytes);
    REQUIRE(policy.ok());
    EpisodeOptions options{.start = Start::kRandom, .passes = 2, .gains = true};
    const Episode e = run_episode(*c, **policy, options);
    const std::vector<float> logits = learner.logits(graph, e);
    REQUIRE(logits.size() == e.logits.size());
    for (size_t i = 0; i < logits.size(); ++i) {
      most = std::max(most, std::abs(logits[i] - e.logits[i]));
      largest = std::max(largest, std::abs(logits[i]));
      ++compared;
    }
    std::vector<uint32_t> steps;
    for (uint32_t t = 0; t < e.steps(); t += 5) steps.push_back(t);
    for (int i = 0; i < 10; ++i) {  // away from the small weights of the beginning
      learner.descend(learner.gradient(graph, e, e.returns(), steps, double(steps.size()),
                                       clipped_policy_loss(0.2), {.all_action = 1}),
                      2e-3, 1);
    }
  }
  CHECK(compared > 200);
  CHECK(largest > 0.01f);
  CHECK(most < 1e-4f * std::max(1.0f, largest));  // in the last digits of a float
  MESSAGE("largest difference ", most, " among ", compared, " logits up to ", largest);
}
