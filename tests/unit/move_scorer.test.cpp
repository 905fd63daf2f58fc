#include "runtime/policy/pairwise/move_scorer.h"

#include <doctest/doctest.h>

#include <cmath>
#include <set>
#include <vector>

#include "runtime/policy/guide.h"
#include "runtime/policy/pairwise/pass.h"
#include "tests/support/random_problem.h"
#include "tests/support/small_policies.h"

namespace placeto {
namespace {

// The head by hand: rows of inputs through layers of weights [inputs, outputs].
float by_hand(const PolicySpec& spec, std::vector<float> x) {
  for (size_t i = 0; i + 1 < spec.tensors.size(); i += 2) {
    const PolicyTensor& weight = spec.tensors[i];
    std::vector<float> y = spec.tensors[i + 1].data;
    for (size_t k = 0; k < x.size(); ++k) {
      for (size_t n = 0; n < y.size(); ++n) y[n] += x[k] * weight.data[k * y.size() + n];
    }
    if (i + 2 < spec.tensors.size()) {
      for (float& value : y) value = std::max(value, 0.0f);
    }
    x = std::move(y);
  }
  return x[0];
}

// A random placement, and what features read of it.
struct ScorerScene {
  ScorerScene(const Problem& problem, Random& random)
      : hierarchy(problem), evaluator(problem), state(problem), features(problem, hierarchy) {
    evaluator.rebase(test::random_assignment(problem, random));
    state.refresh(evaluator);
  }
  Hierarchy hierarchy;
  MoveEvaluator evaluator;
  PlacementState state;
  MoveFeatures features;
};

}  // namespace

TEST_CASE("a score is what the head makes of the policy's columns, normalised") {
  PolicySpec spec = test::small_pairwise_policy();
  spec.pair_features[0].shift = 0.25f;
  spec.pair_features[0].scale = 3;
  test::draw_weights(spec, 7);
  const auto policy = test::load_policy(spec);
  Random random(71);
  int scored = 0;
  for (int i = 0; i < 20; ++i) {
    const test::Instance instance = test::random_instance({.most_nodes = 30}, 0, random);
    if (!instance.problem) continue;
    const Problem& problem = *instance.problem;
    ScorerScene scene(problem, random);
    MoveFeatures& features = scene.features;
    MoveScorer scorer(*policy, problem, KernelChoice::kPortable);
    scorer.embed(scene.state);
    CHECK(scorer.embeddings() == 0);  // it has no graph network
    for (uint32_t group = 0; group < scene.hierarchy.group_count(0); ++group) {
      features.begin(scene.state, 0, group);
      const auto devices = features.candidates();
      if (devices.empty()) continue;
      const auto scores = scorer.score(features, devices);
      REQUIRE(scores.size() == devices.size());
      for (size_t d = 0; d < devices.size(); ++d) {
        const auto row = scorer.rows().subspan(d * kPairFeatures, kPairFeatures);
        std::vector<float> inputs;
        for (const PolicyFeature& wanted : spec.pair_features) {
          for (uint32_t c = 0; c < kPairFeatures; ++c) {
            if (kPairFeatureList[c].name != wanted.name) continue;
            inputs.push_back((row[c] - wanted.shift) * wanted.scale);
          }
        }
        CHECK(scores[d] == doctest::Approx(by_hand(spec, inputs)).epsilon(1e-4));
        ++scored;
      }
    }
  }
  CHECK(scored > 100);
}

TEST_CASE("a guide of either architecture places, tells its steps, and only one ranks moves") {
  Random random(72);
  test::Instance instance;
  while (!instance.problem || instance.problem->device_count() < 2 ||
         instance.problem->node_count() < 10) {
    instance = test::random_instance({.most_nodes = 30}, 0, random);
  }
  const Problem& problem = *instance.problem;
  const uint32_t devices = problem.device_count();
  const auto pairwise = test::load_policy(test::small_pairwise_policy());
  const auto published = test::load_policy(test::published_placeto_policy(devices, 1, true, 3));
  for (const auto& policy : {pairwise, published}) {
    CAPTURE(name_of(policy->architecture()));
    const MethodOptions options;
    Workbench bench(problem, options);
    auto guide = make_policy_guide(*policy, bench, KernelChoice::kPortable);
    REQUIRE(guide.ok());
    const Assignment assignment = test::random_assignment(problem, random);
    const Candidate start{"start", assignment, bench.evaluator().evaluate(assignment)};
    uint32_t steps = 0, columns = 0;
    PolicyPasses passes;
    passes.passes = 1;
    passes.on_step = [&](const PolicyStep& step) {
      ++steps;
      CHECK(!step.nodes.empty());
      CHECK(step.devices.size() == step.scores.size());
      CHECK(step.devices.size() == step.mask.size());
      columns = static_cast<uint32_t>(step.features.size() / step.feature_rows);
    };
    const Candidate placed = (*guide)->place(start, passes, bench.move_evaluator());
    CHECK(placed.score <= start.score);
    CHECK(obeys_rules(problem, placed.assignment));
    REQUIRE(steps > 0);
    CHECK(!feature_name(*policy, columns - 1).empty());
    CHECK(feature_name(*policy, columns).empty());
  }
}

TEST_CASE("a policy of exact sums scores moves alike on every kernel, another one need not") {
  PolicySpec spec = test::small_pairwise_policy();
  PolicyDimensions& dimensions = spec.dimensions;
  dimensions.embedding = 16;
  dimensions.rounds = 2;
  dimensions.encoder_hidden = dimensions.message_hidden = {32};
  dimensions.head_hidden = {24};
  for (const Feature& feature : kNodeFeatureList) {
    spec.node_features.push_back({std::string(feature.name), 0, 3});
  }
  test::draw_weights(spec, 11);
  PolicySpec exact_spec = spec;
  exact_spec.dimensions.grid = 5;
  for (PolicyTensor& tensor : exact_spec.tensors) {
    for (float& x : tensor.data) x = std::round(x * 64) / 64;
  }
  const auto policy = test::load_policy(spec), exact = test::load_policy(exact_spec);
  Random random(72);
  bool differs = false;
  std::set<float> different;
  for (int i = 0; i < 6; ++i) {
    const test::Instance instance = test::random_instance({.most_nodes = 600}, 0, random);
    if (!instance.problem || instance.problem->node_count() < 256) continue;
    const Problem& problem = *instance.problem;
    ScorerScene scene(problem, random);
    const auto scores = [&](const Policy& by, KernelChoice kernels) {
      MoveScorer scorer(by, problem, kernels);
      scorer.embed(scene.state);
      MoveFeatures& features = scene.features;
      std::vector<float> all;
      for (uint32_t group = 0; group < scene.hierarchy.group_count(0); ++group) {
        features.begin(scene.state, 0, group);
        const auto of_group = scorer.score(features, features.candidates());
        all.insert(all.end(), of_group.begin(), of_group.end());
      }
      return all;
    };
    const std::vector<float> portable = scores(*exact, KernelChoice::kPortable);
    different.insert(portable.begin(), portable.end());
    CHECK(scores(*exact, KernelChoice::kOneDnn) == portable);
    CHECK(scores(*exact, KernelChoice::kAuto) == portable);
    differs |= scores(*policy, KernelChoice::kOneDnn) != scores(*policy, KernelChoice::kPortable);
  }
  CHECK(different.size() > 100);
  CHECK(differs == Kernels::onednn_available());
}

TEST_CASE("decisions tell their pass, where one level is scored, too") {
  const auto policy = test::load_policy(test::small_pairwise_policy());
  Random random(73);
  for (const uint32_t least : {40u, 320u}) {
    test::Instance instance;
    while (!instance.problem || instance.problem->node_count() < least ||
           instance.problem->device_count() == 1) {
      instance = test::random_instance({.most_nodes = least * 3 / 2}, 0, random);
    }
    const Hierarchy hierarchy(*instance.problem);
    PairwisePlacer placer(*policy, *instance.problem, hierarchy);
    MoveEvaluator evaluator(*instance.problem);
    PairwisePassOptions options;
    options.passes = 3;
    options.temperature = 0.1f;
    std::set<uint32_t> passes;
    options.on_step = [&](const PairwiseStep& step) { passes.insert(step.pass); };
    placer.place({"start", test::random_assignment(*instance.problem, random), {}}, options,
                 evaluator);
    CHECK(passes == std::set<uint32_t>{0, 1, 2});
  }
}

}  // namespace placeto
