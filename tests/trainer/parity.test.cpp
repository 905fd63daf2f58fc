// What ships is what was trained: the runtime and LibTorch score recorded steps alike.
#include <doctest/doctest.h>

#include <cmath>

#include "runtime/heuristics/heuristics.h"
#include "runtime/placer/policy_pass.h"
#include "tests/trainer/support.h"
#include "trainer/collect.h"
#include "trainer/export.h"

using namespace placeto;
using namespace placeto::train;

TEST_CASE("an exported policy scores recorded steps as the network in LibTorch does") {
  Config config = test::small_config();
  config.learn.hidden = {48, 48};
  Learner learner(config.learn, config.seed);
  const Instance instance = draw_problem(config.data, 11);
  const Samples samples =
      collect(instance, nullptr, config.collect, test::gains_within(-0.05, 0.25), 1);
  REQUIRE(samples.groups() > 0);
  learner.set_normalisation(measure_normalisation(samples));
  for (int i = 0; i < 50; ++i) learner.step(samples, 1e-2);

  const auto bytes = export_policy(learner, config, "", 0);
  REQUIRE(bytes.ok());
  const auto policy = load_exported(*bytes);
  REQUIRE(policy.ok());
  const Hierarchy hierarchy(*instance.problem);
  PolicyPlacer placer(**policy, *instance.problem, hierarchy);
  MoveEvaluator evaluator(*instance.problem);
  const Result<Candidate> start = heft_method().place(*instance.problem, {});
  REQUIRE(start.ok());
  PolicyPassOptions options;
  options.temperature = 0.01f;  // far from the arg max, too
  float most = 0, largest = 0;
  size_t rows = 0;
  options.on_step = [&](const PolicyStep& step) {
    const std::vector<float> expected = learner.score(step.rows);
    REQUIRE(expected.size() == step.scores.size());
    for (size_t i = 0; i < expected.size(); ++i) {
      most = std::max(most, std::abs(expected[i] - step.scores[i]));
      largest = std::max(largest, std::abs(expected[i]));
      ++rows;
    }
  };
  placer.place(*start, options, evaluator);
  CHECK(rows > 50);
  CHECK(largest > 1e-3f);
  CHECK(most < 1e-4f);
  MESSAGE("largest difference ", most, " among ", rows, " scores up to ", largest);
}
