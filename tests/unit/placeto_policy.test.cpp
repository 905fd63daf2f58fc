#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "runtime/policy/file/policy_file.h"
#include "runtime/policy/guide.h"
#include "runtime/policy/published/pass.h"
#include "tests/support/random_problem.h"
#include "tests/support/small_policies.h"

using namespace placeto;

namespace {

using test::Looks;

NodeSpec node(const std::string& name, double cost_us, uint64_t bytes) {
  NodeSpec spec;
  spec.name = name;
  spec.cost_us = {cost_us};
  spec.outputs = {bytes};
  return spec;
}

TopologySpec devices_with(uint32_t count, uint64_t memory_bytes = 0) {
  TopologySpec topology;
  topology.default_link = {.bandwidth_bytes_per_us = 100, .latency_us = 0, .gap_us = 0};
  for (uint32_t d = 0; d < count; ++d) {
    DeviceSpec device;
    device.name = "gpu:" + std::to_string(d);
    device.kind = "gpu";
    device.memory_bytes = memory_bytes;
    topology.devices.push_back(device);
  }
  return topology;
}

// `count` nodes without edges, 10 us each.
GraphSpec independent(uint32_t count) {
  GraphSpec graph;
  for (uint32_t v = 0; v < count; ++v) graph.nodes.push_back(node("n" + std::to_string(v), 10, 8));
  return graph;
}

Candidate on_device(const Problem& problem, uint32_t device) {
  return {"start", Assignment(problem.node_count(), device), {}};
}

struct Recorded {
  uint32_t pass, node, choice;
  std::vector<float> features, logits;
  std::vector<uint8_t> mask;
  float log_probability;
  Score before, after;
};

std::vector<Recorded> record(const Policy& policy, const Problem& problem, const Candidate& start,
                             PublishedPassOptions options, Candidate* result = nullptr) {
  std::vector<Recorded> steps;
  options.on_step = [&](const PublishedStep& s) {
    steps.push_back({s.pass,
                     s.node,
                     s.choice,
                     {s.features.begin(), s.features.end()},
                     {s.logits.begin(), s.logits.end()},
                     {s.mask.begin(), s.mask.end()},
                     s.log_probability,
                     s.before,
                     s.after});
  };
  REQUIRE(PublishedPlacer::check(policy, problem).ok());
  PublishedPlacer placer(policy, problem);
  MoveEvaluator evaluator(problem);
  const Candidate best = placer.place(start, options, evaluator);
  if (result != nullptr) *result = best;
  return steps;
}

}  // namespace

//   0 (10 us, 40 bytes) --> 1 (20 us, 80 bytes), 2 (5 us, 0 bytes) on its own
TEST_CASE("features are what the list says, each as a share of its maximum") {
  GraphSpec graph;
  graph.nodes = {node("a", 10, 40), node("b", 20, 80), node("c", 5, 0)};
  graph.edges = {{0, 0, 1}};
  const test::Instance instance = test::build_instance(graph, devices_with(2));
  PublishedFeatures features(*instance.problem);
  const std::vector<uint32_t> assignment = {0, 1, 0};
  const std::vector<double> start_us = {0, 16, 10};
  features.begin_pass(assignment);
  features.begin_step(0, start_us);
  features.decide(std::vector<uint32_t>{0}, 1);
  features.begin_step(2, start_us);
  //                                    run    bytes on 0 on 1 visited current start
  const std::vector<float> expected = {0.5f,  0.5f, 0, 1, 1, 0, -0.625f,  //
                                       1,     1,    0, 1, 0, 0, 0.375f,   //
                                       0.25f, 0,    1, 0, 0, 1, 0};
  CHECK(features.columns() == step_columns(2));
  CHECK(std::ranges::equal(features.rows(), expected));
}

TEST_CASE("a policy that prefers the least loaded device balances independent nodes") {
  const test::Instance instance = test::build_instance(independent(12), devices_with(3));
  const auto policy = test::load_policy(test::small_placeto_policy(3, Looks::kAtLoads));
  Candidate best;
  const auto steps = record(*policy, *instance.problem, on_device(*instance.problem, 0), {}, &best);
  CHECK(steps.size() == 12);
  CHECK(best.score.objective_us == 40);  // four nodes of 10 us on each
  CHECK(best.method == "policy");
  CHECK(steps[0].before.objective_us == 120);
  CHECK(steps[0].after.objective_us == 110);
}

TEST_CASE("equal logits go to the lower device") {
  const test::Instance instance = test::build_instance(independent(4), devices_with(3));
  PolicySpec spec = test::small_placeto_policy(3, Looks::kAtLoads);
  for (PolicyTensor& tensor : spec.tensors) std::ranges::fill(tensor.data, 0.0f);
  const auto policy = test::load_policy(spec);
  for (const Recorded& s :
       record(*policy, *instance.problem, on_device(*instance.problem, 2), {})) {
    CHECK(s.choice == 0);
  }
}

TEST_CASE("colocated nodes are decided together, when their first one is met") {
  GraphSpec graph = independent(6);
  for (uint32_t v : {1u, 4u}) graph.nodes[v].colocate = "pair";
  const test::Instance instance = test::build_instance(graph, devices_with(2));
  const auto policy = test::load_policy(test::small_placeto_policy(2, Looks::kAtLoads));
  Candidate best;
  const auto steps =
      record(*policy, *instance.problem, on_device(*instance.problem, 0), {.passes = 2}, &best);
  std::vector<uint32_t> visited;
  for (const Recorded& s : steps) visited.push_back(s.node);
  CHECK(visited == std::vector<uint32_t>{0, 1, 2, 3, 5, 0, 1, 2, 3, 5});
  CHECK(steps[5].pass == 1);
  CHECK(obeys_rules(*instance.problem, best.assignment));
  const uint32_t columns = step_columns(2), flag = step_column(StepFeature::k_visited, 2);
  CHECK(steps[2].features[4 * columns + flag] == 1);  // node 4, decided with node 1
  CHECK(steps[2].features[3 * columns + flag] == 0);
  CHECK(steps[5].features[4 * columns + flag] == 0);  // a new pass
}

TEST_CASE("devices without room for a group's resident bytes are masked") {
  GraphSpec graph = independent(4);
  for (NodeSpec& n : graph.nodes) n.resident_bytes = 60;
  TopologySpec topology = devices_with(3);
  topology.devices[1].memory_bytes = 50;   // none
  topology.devices[2].memory_bytes = 130;  // two, and their outputs do not matter
  const test::Instance instance = test::build_instance(graph, topology);
  const auto policy = test::load_policy(test::small_placeto_policy(3, Looks::kAtLoads));
  Candidate best;
  const auto steps = record(*policy, *instance.problem, on_device(*instance.problem, 0), {}, &best);
  for (const Recorded& s : steps) {
    CHECK(s.mask[0] == 1);
    CHECK(s.mask[1] == 0);
    CHECK(s.after.feasible());
  }
  CHECK(std::ranges::count(best.assignment, 2u) == 2);
}

TEST_CASE("a device where only the simulated peak does not fit is masked, drawn or not") {
  GraphSpec graph = independent(3);
  for (NodeSpec& n : graph.nodes) n.workspace_bytes = 1'000;
  TopologySpec topology = devices_with(2);
  topology.devices[1].memory_bytes = 500;
  const test::Instance instance = test::build_instance(graph, topology);
  const auto policy = test::load_policy(test::small_placeto_policy(2, Looks::kAtLoads));
  PublishedPassOptions options;
  for (options.seed = 0; options.seed < 10; ++options.seed) {
    if (options.seed > 0) options.temperature = 1.0f;  // the first is greedy
    const auto steps = record(*policy, *instance.problem, on_device(*instance.problem, 0), options);
    CHECK(steps.size() == 3);
    for (const Recorded& s : steps) {
      CHECK(s.choice == 0);
      CHECK(s.mask == std::vector<uint8_t>{1, 0});
      CHECK(s.log_probability == 0);
    }
  }
}

TEST_CASE("samples follow the softmax of the logits over the mask and report its logarithm") {
  const test::Instance instance = test::build_instance(independent(2), devices_with(3));
  const auto policy = test::load_policy(test::small_placeto_policy(3, Looks::kAtLoads));
  constexpr uint32_t kDraws = 4'000;
  std::vector<uint32_t> count(3);
  std::vector<double> probability(3);
  for (uint32_t seed = 0; seed < kDraws; ++seed) {
    const auto steps = record(*policy, *instance.problem, on_device(*instance.problem, 0),
                              {.temperature = 0.5f, .seed = seed});
    const Recorded& first = steps[0];
    ++count[first.choice];
    double sum = 0;
    for (const float l : first.logits) sum += std::exp(static_cast<double>(l) / 0.5);
    for (uint32_t d = 0; d < 3; ++d) {
      probability[d] = std::exp(static_cast<double>(first.logits[d]) / 0.5) / sum;
    }
    CHECK(static_cast<double>(first.log_probability) ==
          doctest::Approx(std::log(probability[first.choice])).epsilon(1e-4));
  }
  for (uint32_t d = 0; d < 3; ++d) {  // four standard deviations
    const double p = probability[d];
    CHECK(std::abs(count[d] - kDraws * p) < 4 * std::sqrt(kDraws * p * (1 - p)));
  }
}

TEST_CASE("the same seed samples the same placement, another seed another") {
  const test::Instance instance = test::build_instance(independent(20), devices_with(3));
  const auto policy = test::load_policy(test::small_placeto_policy(3, Looks::kAtLoadsNearby));
  const auto choices = [&](uint64_t seed) {
    std::vector<uint32_t> list;
    for (const Recorded& s : record(*policy, *instance.problem, on_device(*instance.problem, 0),
                                    {.temperature = 1.0f, .seed = seed})) {
      list.push_back(s.choice);
    }
    return list;
  };
  CHECK(choices(1) == choices(1));
  CHECK(choices(1) != choices(2));
}

TEST_CASE("the result is never worse than the start and is what the steps met") {
  Random random(5);
  for (int i = 0; i < 60; ++i) {
    const test::RandomShape shape{.most_nodes = 20, .whole_numbers = false, .restrictions = true};
    const auto instance = test::random_instance(shape, random.below(test::kRuleSets), random);
    if (!instance.problem) continue;
    const Problem& problem = *instance.problem;
    const auto policy = test::load_policy(
        test::published_placeto_policy(problem.device_count(), 2, i % 2 == 0, random.next()));
    const Candidate start{"start", test::random_assignment(problem, random), {}};
    MoveEvaluator evaluator(problem);
    const Score before = evaluator.rebase(start.assignment);
    Candidate best;
    Score least = before;
    for (const Recorded& s : record(*policy, problem, start, {.passes = 2}, &best)) {
      CHECK(s.mask[s.choice] == 1);
      least = std::min(least, s.after);
    }
    CHECK(best.score == least);
    CHECK(obeys_rules(problem, best.assignment));
    CHECK(Evaluator(problem).evaluate(best.assignment) == best.score);
  }
}

TEST_CASE("a cancelled pass returns what it has") {
  const test::Instance instance = test::build_instance(independent(8), devices_with(2));
  const auto policy = test::load_policy(test::small_placeto_policy(2, Looks::kAtLoads));
  PublishedPlacer placer(*policy, *instance.problem);
  std::atomic<bool> cancel{false};
  uint32_t steps = 0;
  PublishedPassOptions options;
  options.passes = 100;
  options.on_step = [&](const PublishedStep&) { cancel = ++steps == 3; };
  Stop stop(&cancel);
  MoveEvaluator evaluator(*instance.problem, &stop);
  const Candidate best = placer.place(on_device(*instance.problem, 0), options, evaluator);
  CHECK(steps == 3);
  CHECK(best.score.objective_us == 50);  // three of eight moved away
}

TEST_CASE("a policy that does not fit the problem is refused with the reason") {
  const test::Instance instance = test::build_instance(independent(8), devices_with(2));
  const auto message = [&](const PolicySpec& spec, size_t most_bytes) {
    const auto policy = test::load_policy(spec);
    return PublishedPlacer::check(*policy, *instance.problem, most_bytes);
  };
  const size_t enough = PublishedPlacer::kMostBytes;
  CHECK(message(test::small_placeto_policy(3, Looks::kAtLoads), enough).message() ==
        "the policy places on 3 devices, the topology has 2");
  CHECK(message(test::small_pairwise_policy(), enough).message() ==
        "the policy is of the architecture 'pairwise', expected 'placeto'");
  CHECK(message(test::small_placeto_policy(2, Looks::kAtLoads), 100).code() ==
        StatusCode::kOutOfMemory);
}

TEST_CASE("placed_on takes one column per device, and only for this architecture") {
  const auto policy = test::load_policy(test::published_placeto_policy(6, 1, true, 1));
  CHECK(policy->node_features().size() == kStepFeatures);
  CHECK(policy->find_network("encoder")->inputs() == step_columns(6));
  PolicySpec spec = test::small_pairwise_policy();
  spec.pair_features[0].name = "placed_on";
  const auto bytes = encode_policy(spec);
  REQUIRE(bytes.ok());
  CHECK(!Policy::load(*bytes, Policy::Bytes::kCopy, known_features()).ok());
}
