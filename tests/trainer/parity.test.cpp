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
Samples decision(const PairwisePlacer& placer, const Graph& graph, std::span<const float> rows,
                 std::span<const uint32_t> nodes) {
  Samples one;
  one.rows.assign(rows.begin(), rows.end());
  one.gains.resize(rows.size() / kPairFeatures);
  one.close_decision();
  const std::span<const float> seen = placer.scorer().node_rows();
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
        trained.learner.score(decision(placer, problem.graph(), step.rows, step.nodes));
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
