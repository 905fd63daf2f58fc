#include "trainer/train/train.h"

#include <doctest/doctest.h>

#include <cmath>

#include "runtime/policy/file/policy_file.h"
#include "runtime/policy/guide.h"
#include "tests/trainer/support.h"
#include "tools/io/write.h"
#include "tools/workloads/workload.h"
#include "trainer/algorithms/make_algorithm.h"
#include "trainer/base/files.h"
#include "trainer/published/courses.h"
#include "trainer/train/export.h"

using namespace placeto;
using namespace placeto::train;

namespace {

std::vector<uint8_t> trained_bytes(const Config& config, const std::string& path) {
  RunFolder folder(path);
  REQUIRE(folder.create("").ok());
  REQUIRE(train::train(config, "", make_algorithm, folder, false, {}).ok());
  const auto policy = export_run(config, "", make_algorithm, folder);
  REQUIRE(policy.ok());
  return *policy;
}

// Mean cost that sampled episodes from random starts end at, over the graphs trained on.
double sampled_cost(const Config& config, std::span<const uint8_t> policy_file) {
  const auto policy = load_exported(policy_file);
  REQUIRE(policy.ok());
  double sum = 0, count = 0;
  const auto problems = ProblemSource::open(config);
  REQUIRE(problems.ok());
  const auto courses = training_courses(config, *problems, 1);
  REQUIRE(courses.ok());
  for (const Course& course : *courses) {
    for (uint64_t seed = 0; seed < 8; ++seed) {
      EpisodeOptions options{.start = Start::kRandom, .seed = seed, .start_seed = seed};
      sum += std::log(run_episode(course, **policy, options).cost.back());
      count += 1;
    }
  }
  return std::exp(sum / count);
}

}  // namespace

TEST_CASE("graphs whose episodes do not fit in memory are refused, with what they would take") {
  const test::TemporaryFolder place;
  WorkloadOptions options;
  options.nodes = 300;
  REQUIRE(write_graph(place.file("large.graph"), *generate("layered", options)).ok());
  options.nodes = 20;
  REQUIRE(write_graph(place.file("small.graph"), *generate("layered", options)).ok());
  Config config = test::small_placeto_config("siblings");
  config.data.merged_nodes = 0;
  config.data.held_out_share = 0;
  config.data.graphs = {place.file("*.graph")};
  config.data.topologies = {"2xk80"};
  const Result<ProblemSource> own = ProblemSource::open(config);
  REQUIRE(own.ok());
  CHECK(training_courses(config, *own, 6).ok());
  // A hundred million, each of 300 x 300 x 7 floats, and something beside.
  const Status refused = training_courses(config, *own, 100'000'000).status();
  CHECK(refused.code() == StatusCode::kBadInput);
  CHECK(refused.message().find(place.file("large.graph") + ": 300 nodes") != std::string::npos);
  CHECK(refused.message().find("take 252000.") != std::string::npos);
  CHECK(refused.message().find(" GB, expected at most") != std::string::npos);

  config.data.graphs = config.data.topologies = {};
  const Status drawn =
      training_courses(config, *ProblemSource::open(config), 1'000'000'000).status();
  CHECK(drawn.message().find("of data.set mixed: 2") != std::string::npos);
}

TEST_CASE("a run that begins with a policy of the published architecture takes all its weights") {
  const test::TemporaryFolder place;
  Config config = test::small_placeto_config("reinforce");
  const auto first = trained_bytes(config, place.file("first"));
  REQUIRE(write_whole(place.file("first.plpo"), std::span<const uint8_t>(first)).ok());
  const PolicySpec before = *decode_policy(first, known_features());

  config.learn.start = place.file("first.plpo");
  config.seed = 2;
  config.iterations = 1;
  config.episodes.learning_rate = config.episodes.final_learning_rate = 0;
  const PolicySpec after =
      *decode_policy(trained_bytes(config, place.file("second")), known_features());
  CHECK(after.tensors == before.tensors);

  const auto refusal = [&](const std::string& start, uint32_t rounds) {
    Config other = config;
    other.learn.start = start;
    other.placeto.rounds = rounds;
    RunFolder folder(place.file("refused by " + std::to_string(rounds)));
    REQUIRE(folder.create("").ok());
    return train::train(other, "", make_algorithm, folder, false, {}).message();
  };
  CHECK(refusal(place.file("first.plpo"), 3).find("another architecture, widths") !=
        std::string::npos);
  CHECK(refusal("default", 2).find("default: another architecture") != std::string::npos);
}

TEST_CASE("an interrupted run of any algorithm ends with the weights of an uninterrupted one") {
  for (const char* algorithm : {"reinforce", "siblings"}) {
    const test::TemporaryFolder place;
    const Config config = test::small_placeto_config(algorithm);
    const std::vector<uint8_t> whole = trained_bytes(config, place.file("whole"));

    RunFolder folder(place.file("parts"));
    REQUIRE(folder.create("").ok());
    std::atomic<bool> stop{false};
    TrainOptions options;
    options.stop = &stop;
    options.on_progress = [&](const Progress& p) { stop = p.iteration >= 2; };
    REQUIRE(train::train(config, "", make_algorithm, folder, false, options).ok());
    CHECK(folder.load_latest()->iteration == 2);
    CHECK(*export_run(config, "", make_algorithm, folder) != whole);
    REQUIRE(train::train(config, "", make_algorithm, folder, true, {}).ok());
    CHECK(*export_run(config, "", make_algorithm, folder) == whole);
    CHECK(*read_text(folder.file("best.plpo")) == *read_text(place.file("whole/best.plpo")));
  }
}

TEST_CASE("the number of threads does not change a placeto policy, the seed does") {
  const test::TemporaryFolder place;
  Config config = test::small_placeto_config("siblings");
  const std::vector<uint8_t> one = trained_bytes(config, place.file("one"));
  config.threads = 3;
  CHECK(trained_bytes(config, place.file("three")) == one);
  config.seed = 2;
  CHECK(trained_bytes(config, place.file("other")) != one);
}

TEST_CASE("episodes teach a policy to place better, with every algorithm") {
  for (const char* algorithm : {"reinforce", "siblings"}) {
    const test::TemporaryFolder place;
    Config config = test::small_placeto_config(algorithm);
    config.iterations = 90;
    config.check.every = 90;
    config.episodes.starts = {"random"};
    config.episodes.graphs = 12;  // many starts: what is good from one is bad from another
    config.episodes.rollouts = 2;
    config.episodes.learning_rate = 3e-3;
    config.episodes.all_action = config.episodes.final_all_action =
        algorithm == std::string("siblings") ? 20 : 0;  // `reinforce`: nothing but what it drew
    config.episodes.batches = 1;
    if (algorithm == std::string("reinforce")) {
      config.episodes.batches = 6;
      config.episodes.discount = 0.9;
    }
    config.data.min_ccr = config.data.max_ccr = 0.2;
    config.placeto.averaging = 0.8;
    Config untrained = config;
    untrained.iterations = 1;
    untrained.episodes.learning_rate = 0;
    const double before = sampled_cost(config, trained_bytes(untrained, place.file("untrained")));
    const double after = sampled_cost(config, trained_bytes(config, place.file("trained")));
    MESSAGE(std::string(algorithm), ": ", before, " to ", after);
    CHECK(after < (algorithm == std::string("siblings") ? 0.9 : 0.97) * before);
  }
}

TEST_CASE("a placeto run's checkpoint of other networks is refused") {
  const test::TemporaryFolder place;
  Config config = test::small_placeto_config("siblings");
  trained_bytes(config, place.file("run"));
  RunFolder folder(place.file("run"));
  config.data.devices = 3;
  CHECK(export_run(config, "", make_algorithm, folder).status().code() == StatusCode::kBadInput);
}
