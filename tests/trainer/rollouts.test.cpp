#include "trainer/pairwise/rollouts.h"

#include <doctest/doctest.h>

#include <cmath>
#include <numeric>

#include "tests/trainer/support.h"
#include "trainer/algorithms/siblings.h"
#include "trainer/train/export.h"

using namespace placeto;
using namespace placeto::train;

namespace {

struct Drawn {
  Config config = test::small_config();
  std::shared_ptr<const Policy> policy;
  PairwiseLearner learner{config.learn, 1};

  Drawn() {
    config.episodes.rollouts = 4;
    config.episodes.passes = 2;
    config.episodes.temperature = 0.01;
    policy = *load_exported(*export_policy(learner.policy(), config, "", 0));
  }
  Rollouts roll(uint64_t seed, bool gains) const {
    return roll_out(draw_problem(config.data, seed), *policy, config.episodes,
                    gains ? &config.learn : nullptr, seed);
  }
};

std::vector<uint32_t> all_steps(const Rollouts& rollouts) {
  std::vector<uint32_t> all(rollouts.steps());
  std::iota(all.begin(), all.end(), 0u);
  return all;
}

}  // namespace

TEST_CASE("rollouts are a function of their seed, and survive being bytes") {
  const Drawn drawn;
  const Rollouts a = drawn.roll(3, true);
  REQUIRE(a.steps() > 10);
  CHECK(a.to_bytes() == drawn.roll(3, true).to_bytes());
  CHECK(a.to_bytes() != drawn.roll(4, true).to_bytes());
  Rollouts copy;
  REQUIRE(copy.from_bytes(a.to_bytes()));
  CHECK(copy.to_bytes() == a.to_bytes());
  CHECK(!copy.from_bytes(a.to_bytes().substr(1)));
}

TEST_CASE(
    "episodes of a rollout share a start, and the lowest cost met is no higher than the ends") {
  const Drawn drawn;
  for (uint64_t seed = 0; seed < 5; ++seed) {
    const Rollouts r = drawn.roll(seed, false);
    REQUIRE(r.first.size() == 4);
    for (size_t i = 0; i < r.first.size(); ++i) {
      CHECK(r.first[i] == r.first[0]);
      CHECK(r.best[i] <= std::min(r.first[i], r.last[i]));
    }
    for (const float gain : r.samples.gains) CHECK(gain == 0);
  }
}

// What is better than expected in one episode is worse in the others: from the first step on, which
// all take in the same state, advantages cancel.
TEST_CASE("advantages of the first steps of a rollout's episodes cancel") {
  Drawn drawn;
  drawn.config.episodes.rollouts = 2;
  const Rollouts r = drawn.roll(3, false);
  double difference = double(r.last[1]) - double(r.last[0]);
  CHECK(std::abs(double(r.advantage[0]) - difference) < 1e-5);
}

TEST_CASE("a first look at rollouts finds the probabilities that they were drawn with") {
  Drawn drawn;
  const Rollouts r = drawn.roll(3, true);
  const std::vector<uint32_t> all = all_steps(r);
  RolloutWeights weights;
  weights.temperature = drawn.config.episodes.temperature;
  weights.clip = 0.01;
  const RolloutLosses losses = sibling_step(drawn.learner, r, all, weights, 0);
  CHECK(losses.clipped == 0);
  CHECK(losses.entropy > 0.1);
  CHECK(losses.credit.regression == 0);
  weights.credit = 1;
  CHECK(sibling_step(drawn.learner, r, all, weights, 0).credit.regression > 0);
}

TEST_CASE("steps of rollouts make what was better than expected more likely") {
  Drawn drawn;
  const Rollouts r = drawn.roll(3, false);
  const std::vector<uint32_t> all = all_steps(r);
  RolloutWeights weights;
  weights.temperature = drawn.config.episodes.temperature;
  weights.clip = 0.5;
  weights.advantage = 10;
  const double before = sibling_step(drawn.learner, r, all, weights, 1e-3).policy;
  double after = before;
  for (int i = 0; i < 40; ++i) after = sibling_step(drawn.learner, r, all, weights, 3e-3).policy;
  CHECK(after < before - 0.01);
}
