// What ships is what was trained: the runtime and LibTorch score recorded steps alike.
#include <doctest/doctest.h>

#include <cmath>

#include "runtime/heuristics/heuristics.h"
#include "runtime/policy/pairwise/pass.h"
#include "tests/trainer/support.h"
#include "trainer/algorithms/credit.h"
#include "trainer/pairwise/collect.h"
#include "trainer/train/export.h"

using namespace placeto;
using namespace placeto::train;

namespace {

// A learner that has learned from decisions on one problem, and the policy it exports.
struct Trained {
  explicit Trained(Config c)
      : config(std::move(c)),
        learner(config.learn, config.seed),
        instance(draw_problem(config.data, 11)),
        samples(collect(instance, nullptr, config.collect, config.learn, 1)) {
    REQUIRE(samples.decisions() > 0);
    learner.set_normalisation(measure_normalisation(samples));
    for (int i = 0; i < 50; ++i) credit_step(learner, samples, 1e-2);
    const auto bytes = export_policy(learner.policy(), config, "", 0);
    REQUIRE(bytes.ok());
    const auto loaded = load_exported(*bytes);
    REQUIRE(loaded.ok());
    policy = *loaded;
  }

  Config config;
  PairwiseLearner learner;
  Instance instance;
  Samples samples;
  std::shared_ptr<const Policy> policy;
};

Config wide(Config config) {
  config.learn.hidden = {48, 48};
  config.learn.least_gain = -0.05;
  return config;
}

// One decision of the placer, with what its graph network has seen, if it has one.
Samples decision(const MoveScorer& scorer, const Graph& graph, std::span<const float> rows,
                 std::span<const uint32_t> nodes) {
  Samples one;
  one.rows.assign(rows.begin(), rows.end());
  one.gains.resize(rows.size() / kPairFeatures);
  one.close_decision();
  const std::span<const float> seen = scorer.node_rows();
  if (seen.empty()) return one;
  GraphState state;
  state.rows.assign(seen.begin(), seen.end());
  for (uint32_t v = 0; v < graph.node_count(); ++v) {
    for (const InEdge& in : graph.in_edges(v)) {
      state.source.push_back(in.source);
      state.target.push_back(v);
    }
  }
  one.graphs.push_back(std::make_shared<const GraphState>(std::move(state)));
  one.close_members(nodes);
  return one;
}

}  // namespace

TEST_CASE("an exported policy leaps to where the network in LibTorch would have it leap") {
  Config config = test::small_graph_config();
  config.learn.leap = 9;
  SUBCASE("rounded nowhere") {}
  SUBCASE("of exact sums") {
    config.learn.grid = 5;
  }
  Trained trained(config);
  PolicySpec spec = trained.learner.policy();
  Random random(5);
  for (PolicyTensor& tensor : spec.tensors) {
    if (!tensor.name.starts_with("leap.")) continue;  // which are zeros at the end
    for (float& x : tensor.data) x = static_cast<float>(random.uniform() - 0.5);
  }
  REQUIRE(trained.learner.begin_with(spec).ok());
  const auto bytes = export_policy(trained.learner.policy(), config, "", 0);
  REQUIRE(bytes.ok());
  const auto policy = *load_exported(*bytes);
  const Problem& problem = *trained.instance.problem;
  const Hierarchy hierarchy(problem);
  MoveEvaluator evaluator(problem);
  evaluator.rebase(heft_method().place(problem, {})->assignment);
  PlacementState state(problem);
  state.refresh(evaluator);
  MoveScorer scorer(*policy, problem, KernelChoice::kPortable);
  scorer.embed(state);
  MoveFeatures features(problem, hierarchy);
  float most = 0, largest = 0;
  for (uint32_t group = 0; group < hierarchy.group_count(0); ++group) {
    features.begin(state, 0, group);
    if (features.candidates().empty()) continue;
    const auto logits = scorer.score_leap(features, features.candidates());
    const Samples one = decision(scorer, problem.graph(), scorer.rows(), hierarchy.nodes(0, group));
    const std::vector<float> expected = trained.learner.score_leaps(one);
    REQUIRE(expected.size() == logits.size());
    for (size_t i = 0; i < logits.size(); ++i) {
      most = std::max(most, std::abs(expected[i] - logits[i]));
      largest = std::max(largest, std::abs(expected[i]));
    }
  }
  CHECK(largest > 1e-2f);
  CHECK(most < 1e-4f);
  if (config.learn.grid > 0) CHECK(most == 0);
}

TEST_CASE("an exported policy scores recorded steps as the network in LibTorch does") {
  Config config;
  SUBCASE("without a graph network") {
    config = wide(test::small_config());
  }
  SUBCASE("with a graph network") {
    config = wide(test::small_graph_config());
  }
  SUBCASE("without a graph network, of exact sums") {
    config = wide(test::small_config());
    config.learn.grid = 5;
  }
  SUBCASE("with a graph network, of exact sums") {
    config = wide(test::small_graph_config());
    config.learn.grid = 5;
  }
  const Trained trained(config);
  const Problem& problem = *trained.instance.problem;
  const Hierarchy hierarchy(problem);
  PairwisePlacer placer(*trained.policy, problem, hierarchy);
  MoveEvaluator evaluator(problem);
  const Result<Candidate> start = heft_method().place(problem, {});
  REQUIRE(start.ok());
  PairwisePassOptions options;
  options.temperature = 0.01f;  // far from the arg max, too
  float most = 0, largest = 0;
  size_t rows = 0;
  options.on_step = [&](const PairwiseStep& step) {
    const std::vector<float> expected =
        trained.learner.score(decision(placer.scorer(), problem.graph(), step.rows, step.nodes));
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
  if (config.learn.grid > 0) CHECK(most == 0);
  CHECK(placer.scorer().embeddings() == (config.learn.embedding > 0 ? options.passes : 0));
  MESSAGE("largest difference ", most, " among ", rows, " scores up to ", largest);
}
