#include "trainer/train/train.h"

#include <doctest/doctest.h>

#include <filesystem>
#include <limits>
#include <sstream>

#include "runtime/graph/text.h"
#include "runtime/policy/file/policy_file.h"
#include "runtime/policy/guide.h"
#include "tests/trainer/support.h"
#include "trainer/algorithms/make_algorithm.h"
#include "trainer/base/files.h"
#include "trainer/pairwise/learner.h"
#include "trainer/train/export.h"
#include "trainer/train/tensorboard.h"

using namespace placeto;
using namespace placeto::train;

namespace {

// The policy of the run's last checkpoint.
PolicySpec last_policy(const RunFolder& folder, const Config& config) {
  const Result<Checkpoint> checkpoint = folder.load_latest();
  REQUIRE(checkpoint.ok());
  PairwiseLearner learner(config.learn, 0);
  REQUIRE(learner.load(checkpoint->learner).ok());
  return learner.policy();
}

PolicySpec train_whole(const Config& config, const std::string& path) {
  RunFolder folder(path);
  REQUIRE(folder.create("").ok());
  REQUIRE(train::train(config, "", make_algorithm, folder, false, {}).ok());
  return last_policy(folder, config);
}

// Trains until `iteration` is done, then stops as a signal would make it.
void train_until(const Config& config, RunFolder& folder, uint32_t iteration) {
  std::atomic<bool> stop{false};
  TrainOptions options;
  options.stop = &stop;
  options.on_progress = [&](const Progress& p) { stop = p.iteration >= iteration; };
  // Asked between learning and saving, so the iteration under way is the last.
  REQUIRE(train::train(config, "", make_algorithm, folder, false, options).ok());
  REQUIRE(folder.load_latest()->iteration == iteration);
}

size_t lines_in(const std::string& path) {
  const std::string text = *read_text(path);
  return static_cast<size_t>(std::count(text.begin(), text.end(), '\n'));
}

}  // namespace

TEST_CASE("an iteration without any decision to learn from is an error") {
  Config config = test::small_config();
  config.collect.decisions = 1;
  config.collect.problems = 1;
  config.collect.min_evaluations = config.collect.max_evaluations = 1;
  const test::TemporaryFolder place;
  RunFolder folder(place.file("run"));
  REQUIRE(folder.create("").ok());
  const Status status = train::train(config, "", make_algorithm, folder, false, {});
  CHECK(status.code() == StatusCode::kBadInput);
  CHECK(status.message().find("collect.decisions") != std::string::npos);
}

// Interrupted after two iterations, and resumed.
RunFolder train_in_parts(const Config& config, const test::TemporaryFolder& place,
                         const PolicySpec& whole) {
  RunFolder folder(place.file("parts"));
  REQUIRE(folder.create("").ok());
  train_until(config, folder, 2);
  CHECK(!(last_policy(folder, config) == whole));
  REQUIRE(train::train(config, "", make_algorithm, folder, true, {}).ok());
  CHECK(last_policy(folder, config) == whole);
  return folder;
}

TEST_CASE("an interrupted run that is resumed ends with the weights of an uninterrupted one") {
  Config config;
  SUBCASE("of a head alone") {
    config = test::small_config();
  }
  SUBCASE("of a graph network and a head") {
    config = test::small_graph_config();
  }
  const test::TemporaryFolder place;
  const PolicySpec whole = train_whole(config, place.file("whole"));

  const RunFolder folder = train_in_parts(config, place, whole);
  CHECK(lines_in(folder.file("metrics.jsonl")) == config.iterations);
  CHECK(lines_in(folder.file("metrics.csv")) == config.iterations + 1);
  CHECK(*read_text(folder.file("best.plpo")) == *read_text(place.file("whole/best.plpo")));
}

TEST_CASE("the number of threads does not change the result") {
  const test::TemporaryFolder place;
  Config config = test::small_config();
  const PolicySpec one = train_whole(config, place.file("one"));
  config.threads = 3;
  CHECK(train_whole(config, place.file("three")) == one);
  config.seed = 2;
  CHECK(!(train_whole(config, place.file("other")) == one));
}

TEST_CASE("siblings train a pairwise policy, and an interrupted run ends like a whole one") {
  const test::TemporaryFolder place;
  Config config = test::small_config();
  config.algorithm = "siblings";
  config.episodes.graphs = 4;
  config.episodes.rollouts = 3;
  const PolicySpec whole = train_whole(config, place.file("whole"));
  const RunFolder folder = train_in_parts(config, place, whole);
  config.threads = 3;
  CHECK(train_whole(config, place.file("three")) == whole);
}

TEST_CASE(
    "leaps are learned on drawn problems, too, and an interrupted run ends like a whole one") {
  const test::TemporaryFolder place;
  Config config = test::small_leaps_config();
  const PolicySpec whole = train_whole(config, place.file("whole"));
  train_in_parts(config, place, whole);
  CHECK(whole.dimensions.leap_hidden.size() == 2);
}

// Ratios of probabilities are then 1 in the first step of the optimizer.
TEST_CASE("siblings learn from choices of the network that learns, not of its average") {
  const test::TemporaryFolder place;
  Config config = test::small_config();
  config.algorithm = "siblings";
  config.episodes.epochs = config.episodes.batches = 1;
  config.episodes.clip = 0.01;
  train_whole(config, place.file("run"));
  std::istringstream lines(*read_text(place.file("run/metrics.jsonl")));
  for (std::string line; std::getline(lines, line);) {
    CHECK(line.find("\"clipped\": 0,") != std::string::npos);
  }
}

TEST_CASE(
    "a run that begins with a policy file leaves its weights, and one without it is refused") {
  const test::TemporaryFolder place;
  Config config = test::small_config();
  const PolicySpec first = train_whole(config, place.file("first"));
  config.learn.start = place.file("first/best.plpo");
  config.iterations = 1;
  config.learn.learning_rate = config.learn.final_learning_rate = 0;
  const PolicySpec second = train_whole(config, place.file("second"));
  for (size_t c = 0; c < kPairFeatures; ++c) {
    CHECK(second.pair_features[c].scale == first.pair_features[c].scale);
  }
  // It did not get better, so what it began with, before any step, is still the best.
  CHECK(decode_policy(as_bytes(*read_text(place.file("second/best.plpo"))), known_features())
            ->provenance.steps == 0);
  config.learn.start = place.file("absent.plpo");
  RunFolder folder(place.file("third"));
  REQUIRE(folder.create("").ok());
  CHECK(train::train(config, "", make_algorithm, folder, false, {}).message().find("absent.plpo") !=
        std::string::npos);
}

TEST_CASE("a cut checkpoint is named and passed over, and the run continues from the one before") {
  const test::TemporaryFolder place;
  const Config config = test::small_config();
  const PolicySpec whole = train_whole(config, place.file("whole"));

  RunFolder folder(place.file("cut"));
  REQUIRE(folder.create("").ok());
  train_until(config, folder, 3);
  const std::string newest = folder.file("checkpoints/000003.ckpt");
  std::filesystem::resize_file(newest, std::filesystem::file_size(newest) / 2);
  std::string notes;
  TrainOptions options;
  options.on_note = [&](const std::string& note) { notes += note; };
  REQUIRE(train::train(config, "", make_algorithm, folder, true, options).ok());
  CHECK(notes.find(newest) != std::string::npos);
  CHECK(last_policy(folder, config) == whole);
}

TEST_CASE(
    "a run that was killed before its first checkpoint begins anew, and ends like a whole one") {
  const test::TemporaryFolder place;
  const Config config = test::small_config();
  const PolicySpec whole = train_whole(config, place.file("whole"));
  RunFolder folder(place.file("killed"));
  const std::string left = folder.file("records/000000.bin.tmp-1-2");
  {
    RunFolder killed(place.file("killed"));
    REQUIRE(killed.create("").ok());
    CHECK(folder.create("").message().find("another process") != std::string::npos);
    REQUIRE(killed.metrics().append({{"iteration", 1}, {"seconds", 2}}).ok());
    REQUIRE(write_whole(left, "half of it").ok());
    killed.abandon();  // what has come of it is kept
  }
  REQUIRE(train::train(config, "", make_algorithm, folder, true, {}).ok());
  CHECK(last_policy(folder, config) == whole);
  CHECK(!std::filesystem::exists(left));
  CHECK(lines_in(folder.file("metrics.jsonl")) == config.iterations);
}

TEST_CASE("a check makes a checkpoint, so that the best policy is never ahead of it") {
  const test::TemporaryFolder place;
  Config config = test::small_config();
  config.check.save_every = 100;
  train_whole(config, place.file("run"));
  const RunFolder folder(place.file("run"));
  CHECK(folder.load(2).ok());
  CHECK(folder.load(4).ok());
}

TEST_CASE("a checkpoint takes the place of later ones, from which the run did not continue") {
  const test::TemporaryFolder place;
  RunFolder folder(place.file("run"));
  REQUIRE(folder.create("").ok());
  for (const uint32_t iteration : {10u, 20u, 15u}) {
    Checkpoint saved;
    saved.iteration = iteration;
    REQUIRE(folder.save(saved, 1).ok());
  }
  CHECK(folder.load_latest()->iteration == 15);
  CHECK(folder.load(10).ok());
}

TEST_CASE("a CSV of metrics keeps the columns of the version that began it") {
  const test::TemporaryFolder place;
  RunFolder folder(place.file("run"));
  REQUIRE(folder.create("").ok());
  REQUIRE(folder.metrics().append({{"iteration", 1}, {"gone", 2}, {"return", 3}}).ok());
  REQUIRE(folder.metrics().append({{"iteration", 2}, {"new", 4}, {"return", 5}}).ok());
  CHECK(*read_text(folder.file("metrics.csv")) == "iteration,gone,return\n1,2,3\n2,,5\n");
}

TEST_CASE("metrics that a full disk or a kill left cut are whole again after the run continues") {
  const test::TemporaryFolder place;
  RunFolder folder(place.file("run"));
  REQUIRE(folder.create("").ok());
  const Metrics first = {{"iteration", 1}, {"seconds", 2}};
  const auto cut = [&](const char* file, const char* text) {
    REQUIRE(write_whole(folder.file(file), text).ok());
  };
  SUBCASE("before anything was written") {
    for (const char* file : {"metrics.jsonl", "metrics.csv", "events.out.tfevents"}) cut(file, "");
  }
  SUBCASE("in the first line") {
    cut("metrics.jsonl", "{\"iter");
    cut("metrics.csv", "iteration,sec");
    cut("events.out.tfevents", "ev");
  }
  REQUIRE(folder.metrics().truncate(0).ok());
  REQUIRE(folder.metrics().append(first).ok());
  CHECK(*read_text(folder.file("metrics.csv")) == "iteration,seconds\n1,2\n");
  // In the number of an iteration: 12 looks like 1.
  REQUIRE(append(folder.file("metrics.jsonl"), "{\"iteration\": 1").ok());
  REQUIRE(append(folder.file("metrics.csv"), "1").ok());
  REQUIRE(folder.metrics().truncate(1).ok());
  REQUIRE(folder.metrics().append({{"iteration", 2}, {"seconds", 3}}).ok());
  CHECK(*read_text(folder.file("metrics.csv")) == "iteration,seconds\n1,2\n2,3\n");
  CHECK(*read_text(folder.file("metrics.jsonl")) ==
        "{\"iteration\": 1, \"seconds\": 2}\n{\"iteration\": 2, \"seconds\": 3}\n");
  const std::string events = *read_text(folder.file("events.out.tfevents"));
  std::string_view left = events;
  CHECK(!take_event(left)->file_version.empty());
  CHECK(take_event(left)->step == 1);
  CHECK(take_event(left)->step == 2);
}

TEST_CASE("metrics.csv is written again from metrics.jsonl where it is gone") {
  const test::TemporaryFolder place;
  RunFolder folder(place.file("run"));
  REQUIRE(folder.create("").ok());
  const double none = std::numeric_limits<double>::quiet_NaN();
  REQUIRE(
      folder.metrics().append({{"iteration", 1}, {"cost", 0.1234567891}, {"other", none}}).ok());
  REQUIRE(folder.metrics().append({{"iteration", 2}, {"cost", 1e-9}, {"other", 3}}).ok());
  REQUIRE(folder.metrics().append({{"iteration", 3}, {"cost", 1}, {"other", 3}}).ok());
  std::filesystem::remove(folder.file("metrics.csv"));
  REQUIRE(folder.metrics().truncate(2).ok());
  CHECK(*read_text(folder.file("metrics.csv")) ==
        "iteration,cost,other\n1,0.123456789,\n2,1e-09,3\n");
}

TEST_CASE("what the last check measured is kept over an interruption") {
  const test::TemporaryFolder place;
  RunFolder folder(place.file("run"));
  REQUIRE(folder.create("").ok());
  Checkpoint saved{.iteration = 3, .best = 0.5, .checked = {-0.25, 0.125}, .learner = "\n 1 2"};
  REQUIRE(folder.save(saved, 1).ok());
  const Result<Checkpoint> loaded = folder.load_latest();
  REQUIRE(loaded.ok());
  CHECK(loaded->checked == saved.checked);
  CHECK(loaded->learner == saved.learner);
  const std::string path = folder.file("checkpoints/000003.ckpt");
  REQUIRE(write_sealed(path, "placeto-train checkpoint 1 3 0.5 1 7 nothing\n").ok());
  CHECK(folder.load_latest().status().message().find("ends in no numbers") != std::string::npos);
}

// A run of two iterations in the folder; its configuration.
static Config two_iterations(RunFolder& folder) {
  Config config = test::small_config();
  config.iterations = 2;
  REQUIRE(folder.create("").ok());
  REQUIRE(train::train(config, "", make_algorithm, folder, false, {}).ok());
  return config;
}

TEST_CASE("what checks measure is left open before the first one") {
  const test::TemporaryFolder place;
  RunFolder folder(place.file("run"));
  two_iterations(folder);  // there is a check after the second
  std::istringstream lines(*read_text(folder.file("metrics.csv")));
  std::string names, first, second;
  std::getline(lines, names), std::getline(lines, first), std::getline(lines, second);
  CHECK_MESSAGE(names.ends_with(",checked_greedy,checked_searched"), names);
  CHECK_MESSAGE(first.ends_with(",,"), first);
  CHECK_MESSAGE(!second.ends_with(","), second);
}

TEST_CASE("a run continues with what decides learning as it began, and with more iterations") {
  const test::TemporaryFolder place;
  RunFolder folder(place.file("run"));
  Config config = two_iterations(folder);
  const auto refused = [&](const Config& other, const std::string& text) {
    const Status status = train::train(other, "", make_algorithm, folder, true, {});
    CHECK(status.code() == StatusCode::kBadInput);
    CHECK_MESSAGE(status.message().starts_with(folder.file("config.toml: ") + text),
                  status.message());
    CHECK(export_run(other, "", make_algorithm, folder).status().message() == status.message());
  };
  Config other = config;
  other.seed = 9;
  refused(other, "seed is 9, the run began with 1: expected the same");
  other = config;
  other.data.max_nodes = 70;
  refused(other, "data.max_nodes is 70, the run began with 60");
  other = config;
  other.algorithm = "siblings";
  refused(other, "algorithm is \"siblings\", the run began with \"credit\"");
  other = config;
  other.learn.hidden = {9};
  refused(other, "learn.hidden is [9], the run began with [8]");
  config.iterations = 3;
  config.threads = 2;
  config.check.every = 3;
  config.check.problems = 2;
  const Status status = train::train(config, "", make_algorithm, folder, true, {});
  CHECK_MESSAGE(status.ok(), status.message());
  CHECK(folder.load_latest()->iteration == 3);
  // As runs are that began before this was kept.
  std::filesystem::remove(folder.file("settings.toml"));
  config.iterations = 4;
  CHECK(train::train(config, "", make_algorithm, folder, true, {}).ok());
  config.seed = 9;
  refused(config, "seed");
}

TEST_CASE("a best policy that is gone or damaged is replaced when the run continues, and said so") {
  const test::TemporaryFolder place;
  RunFolder folder(place.file("run"));
  Config config = two_iterations(folder);
  const std::string best = folder.file("best.plpo");
  std::string notes;
  TrainOptions options;
  options.on_note = [&](const std::string& note) { notes += note; };
  const std::string done = "2 of 2 iterations are done: nothing to continue";
  const auto continue_run = [&] {
    notes.clear();
    REQUIRE(train::train(config, "", make_algorithm, folder, true, options).ok());
  };
  continue_run();
  CHECK(notes == done);
  for (const bool damaged : {false, true}) {
    std::filesystem::remove(best);
    if (damaged) REQUIRE(write_whole(best, "damaged").ok());
    continue_run();
    CHECK_MESSAGE(notes.starts_with(done + best + ": gone or damaged"), notes);
    CHECK(load_exported(as_bytes(*read_text(best))).ok());
    continue_run();
    CHECK(notes == done);
  }
}

TEST_CASE("a folder in which another is training is refused") {
  const test::TemporaryFolder place;
  RunFolder folder(place.file("run")), other(place.file("run"));
  REQUIRE(folder.create("").ok());
  REQUIRE(folder.lock().ok());
  CHECK(other.lock().code() == StatusCode::kInvalidArgument);
  CHECK(train::train(test::small_config(), "", make_algorithm, other, true, {})
            .message()
            .find("another") != std::string::npos);
}

TEST_CASE("a folder whose checkpoints are all damaged, or that holds a run, is refused") {
  const test::TemporaryFolder place;
  RunFolder folder(place.file("run"));
  REQUIRE(folder.create("").ok());
  CHECK(folder.create("").code() == StatusCode::kInvalidArgument);
  REQUIRE(write_whole(folder.file("checkpoints/000003.ckpt"), "damaged").ok());
  const Status status = train::train(test::small_config(), "", make_algorithm, folder, true, {});
  CHECK(status.code() == StatusCode::kBadInput);
  CHECK(status.message().find("no whole checkpoint") != std::string::npos);
}
