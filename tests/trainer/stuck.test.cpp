#include "trainer/published/stuck.h"

#include <doctest/doctest.h>

#include <cmath>

#include "tests/trainer/support.h"
#include "trainer/algorithms/make_algorithm.h"
#include "trainer/base/files.h"
#include "trainer/train/train.h"

using namespace placeto;
using namespace placeto::train;

namespace {

const double kCoin = std::log(2.0);

Config with_iterations(uint32_t iterations) {
  Config config;
  config.iterations = iterations;
  config.data.devices = 2;
  config.episodes.entropy = 0.03;
  return config;
}

bool has(const std::string& text, const char* words) {
  return text.find(words) != std::string::npos;
}

}  // namespace

TEST_CASE("a policy that is certain, or a coin, for long is stuck, which is said once") {
  const Config config = with_iterations(1'000);
  for (const bool certain : {true, false}) {
    Stuck stuck(config);
    for (int i = 0; i < 99; ++i) {
      stuck.see(certain ? 0.0004 : 0.6925, -0.5);
      CHECK(stuck.news().empty());
    }
    stuck.see(certain ? 0.0004 : 0.6925, -0.5);
    CHECK(stuck.is_stuck());
    const std::string said = stuck.news();
    CHECK_MESSAGE(has(said, certain ? "all but certain (entropy 0.000 of 0.693)"
                                    : "all but a coin's (entropy 0.693 of 0.693)"),
                  said);
    CHECK_MESSAGE(has(said, certain ? "episodes.entropy a few times larger (here 0.03 to 0)"
                                    : "episodes.entropy a few times smaller (here 0.03 to 0)"),
                  said);
    stuck.see(certain ? 0.0004 : 0.6925, -0.5);
    CHECK(stuck.iterations() == 101);
    CHECK(stuck.news().empty());
  }
}

TEST_CASE("a policy that still draws, or becomes better, is not stuck") {
  const Config config = with_iterations(100);  // twenty are long
  Stuck drawing(config), improving(config), changing(config);
  for (int i = 0; i < 60; ++i) {
    drawing.see(0.1, -0.5);
    improving.see(0.001, i / 15 * -0.01);
    changing.see(i % 15 < 7 ? 0.0 : kCoin, -0.5);
    CHECK(!drawing.is_stuck());
    CHECK(!improving.is_stuck());
    CHECK(!changing.is_stuck());
  }
  CHECK(drawing.iterations() == 0);
}

TEST_CASE("a run whose policy collapses says so, in a note and in its metrics") {
  const test::TemporaryFolder place;
  Config config = test::small_placeto_config("reinforce");
  config.iterations = 60;
  config.check.every = 10;
  config.episodes.entropy = config.episodes.final_entropy = 0;
  config.episodes.all_action = config.episodes.final_all_action = 0;
  config.episodes.learning_rate = config.episodes.final_learning_rate = 0.5;  // it leaps
  RunFolder folder(place.file("run"));
  REQUIRE(folder.create("").ok());
  std::string notes, summary;
  TrainOptions options;
  options.on_note = [&](const std::string& note) { notes += note + "\n"; };
  options.on_progress = [&](const Progress& p) { summary = p.summary; };
  REQUIRE(train::train(config, "", make_algorithm, folder, false, options).ok());
  CHECK_MESSAGE(has(notes, "stuck for 12 iterations: choices are all but certain"), notes);
  CHECK(notes.find("stuck for") == notes.rfind("stuck for"));
  CHECK_MESSAGE(has(summary, "  stuck"), summary);
  CHECK(has(*read_text(folder.file("metrics.csv")), ",stuck,"));
}
