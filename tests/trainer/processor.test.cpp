// Learning on a GPU. Where LibTorch has none, it is refused; what else is said of it here is tested
// on machines that have one.
#include <doctest/doctest.h>

#include <cmath>
#include <filesystem>

#include "tests/trainer/support.h"
#include "trainer/algorithms/credit.h"
#include "trainer/algorithms/make_algorithm.h"
#include "trainer/algorithms/siblings.h"
#include "trainer/base/files.h"
#include "trainer/data/families.h"
#include "trainer/pairwise/collect.h"
#include "trainer/train/export.h"
#include "trainer/train/train.h"

using namespace placeto;
using namespace placeto::train;

namespace {

bool has_gpu() {
  return can_learn_on("cuda").ok();
}

Config on_gpu(Config config) {
  config.learn.processor = "cuda";
  return config;
}

// The largest difference, as a share of the largest number.
double difference(std::span<const float> a, std::span<const float> b) {
  REQUIRE(a.size() == b.size());
  double most = 0, largest = 1e-30;
  for (size_t i = 0; i < a.size(); ++i) {
    most = std::max(most, std::abs(double{a[i]} - double{b[i]}));
    largest = std::max(largest, std::abs(double{a[i]}));
  }
  return most / largest;
}

// Samples of one problem, and what a learner makes of them in some steps.
struct Learned {
  explicit Learned(const Config& config)
      : learner(config.learn, config.seed),
        samples(collect(draw_problem(config.data, 11), nullptr, config.collect, config.learn, 1)) {
    learner.set_normalisation(measure_normalisation(samples));
    at_first = learner.score(samples);
    for (int i = 0; i < 50; ++i) loss = credit_step(learner, samples, 1e-2).regression;
  }
  PairwiseLearner learner;
  Samples samples;
  std::vector<float> at_first;
  double loss = 0;
};

}  // namespace

TEST_CASE("a run that is to learn on a GPU says so where LibTorch has none") {
  if (has_gpu()) return;
  const test::TemporaryFolder place;
  RunFolder folder(place.file("run"));
  REQUIRE(folder.create("").ok());
  const Status status =
      train::train(on_gpu(test::small_config()), "", make_algorithm, folder, false, {});
  CHECK(status.code() == StatusCode::kInvalidArgument);
  CHECK(status.message().find("learn.processor") != std::string::npos);
  CHECK(!folder.load_latest().ok());
}

TEST_CASE("a GPU scores and learns as the CPU does, but for rounding") {
  if (!has_gpu()) return;
  Config config;
  SUBCASE("without a graph network") {
    config = test::small_config();
  }
  SUBCASE("with a graph network") {
    config = test::small_graph_config();
  }
  SUBCASE("with a graph network of exact sums") {
    config = test::small_graph_config();
    config.learn.grid = 5;
  }
  config.learn.imitation = 0.1;
  const Learned cpu(config), gpu(on_gpu(config));
  CHECK(difference(cpu.at_first, gpu.at_first) < 1e-4);
  CHECK(gpu.loss == doctest::Approx(cpu.loss).epsilon(0.1));
}

TEST_CASE("a GPU finds the gradient of a placeto policy that the CPU finds, but for rounding") {
  if (!has_gpu()) return;
  Config config = test::small_placeto_config("siblings");
  config.placeto.rounds = 8;
  PublishedLearner cpu(config.placeto, 2, 3), gpu(config.placeto, 2, 3, "cuda");
  const std::optional<Course> c =
      make_course(family_problem("nmt", Half::kSeen, 1, {.groups = 100}));
  REQUIRE(c.has_value());
  const auto bytes = export_policy(cpu.policy(), config, "", 0);
  REQUIRE(bytes.ok());
  const Episode e =
      run_episode(*c, **load_exported(*bytes), {.start = Start::kRandom, .gains = true});
  std::vector<uint32_t> steps;
  for (uint32_t t = 0; t < e.steps(); t += 3) steps.push_back(t);
  std::vector<std::vector<float>> logits, gradients;
  for (PublishedLearner* const learner : {&cpu, &gpu}) {
    const uint32_t graph = learner->add_graph(*c->instance.problem);
    logits.push_back(learner->logits(graph, e));
    gradients.push_back(learner->gradient(graph, e, e.returns(), steps, double(steps.size()),
                                          clipped_policy_loss(0.2),
                                          {.entropy = 0.1, .all_action = 1}));
  }
  CHECK(difference(logits[0], logits[1]) < 1e-4);
  CHECK(difference(gradients[0], gradients[1]) < 1e-3);
  const double norm = cpu.descend(gradients[0], 1e-3, 1).gradient;
  CHECK(gpu.descend(gradients[1], 1e-3, 1).gradient == doctest::Approx(norm).epsilon(1e-3));
}

TEST_CASE("a run on a GPU is continued, and exported on the CPU") {
  if (!has_gpu()) return;
  Config config;
  SUBCASE("pairwise") {
    config = on_gpu(test::small_graph_config());
  }
  SUBCASE("placeto") {
    config = on_gpu(test::small_placeto_config("reinforce"));
  }
  const test::TemporaryFolder place;
  RunFolder folder(place.file("run"));
  REQUIRE(folder.create("").ok());
  Config half = config;
  half.iterations = 2;
  REQUIRE(train::train(half, "", make_algorithm, folder, false, {}).ok());
  REQUIRE(train::train(config, "", make_algorithm, folder, true, {}).ok());
  CHECK(folder.load_latest()->iteration == 4);
  const auto bytes = export_run(config, "", make_algorithm, folder);
  REQUIRE(bytes.ok());
  CHECK(load_exported(*bytes).ok());
}
