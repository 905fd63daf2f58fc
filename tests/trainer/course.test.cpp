#include "trainer/data/course.h"

#include <doctest/doctest.h>

#include <algorithm>

#include "trainer/base/config_keys.h"

using namespace placeto;
using namespace placeto::train;

TEST_CASE("every start that a configuration may name is one, and no other word is") {
  const auto keys = config_keys();
  const auto key = std::ranges::find(keys, "episodes.starts", full_name);
  REQUIRE(key != keys.end());
  CHECK(std::ranges::equal(key->words, kStartNames));
  for (size_t k = 0; k < std::size(kStarts); ++k) CHECK(parse_start(kStartNames[k]) == kStarts[k]);
  CHECK(!parse_start("here").has_value());
}

TEST_CASE("what exceeds memory is a share of all that is limited, on whichever devices") {
  DataConfig data;
  data.max_nodes = 40;
  data.large_share = data.network_share = 0;
  data.memory_share = 1;
  uint32_t compared = 0;
  for (uint64_t seed = 0; seed < 8; ++seed) {
    const std::optional<Course> course = make_course(draw_problem(data, seed));
    if (!course) continue;
    const Problem& problem = *course->instance.problem;
    double limited = 0;
    for (uint32_t d = 0; d < problem.device_count(); ++d) {
      const uint64_t bytes = problem.memory_limit(d);
      limited += bytes == Problem::kUnlimited ? 0 : static_cast<double>(bytes);
    }
    CHECK(overflow_share(*course, course->heuristic.score) == 0);
    Score score = course->single.score;
    score.overflow_bytes = static_cast<uint64_t>(limited / 4);
    CHECK(overflow_share(*course, score) == doctest::Approx(limited > 0 ? 0.25 : 0));
    compared += limited > 0 ? 1 : 0;
  }
  CHECK(compared > 0);
}

TEST_CASE("a start is the best heuristic's, one device, or random by its seed") {
  DataConfig data;
  data.max_nodes = 40;
  data.large_share = data.network_share = data.memory_share = 0;
  const std::optional<Course> course = make_course(draw_problem(data, 3));
  REQUIRE(course.has_value());
  CHECK(start_of(*course, Start::kHeuristic, 1).assignment == course->heuristic.assignment);
  CHECK(start_of(*course, Start::kSingle, 1).assignment == course->single.assignment);
  const Assignment random = start_of(*course, Start::kRandom, 1).assignment;
  CHECK(start_of(*course, Start::kRandom, 1).assignment == random);
  CHECK(start_of(*course, Start::kRandom, 2).assignment != random);
}
