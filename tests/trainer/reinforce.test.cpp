#include "trainer/algorithms/reinforce.h"

#include <doctest/doctest.h>

#include "trainer/algorithms/siblings.h"

using namespace placeto;
using namespace placeto::train;

TEST_CASE("the baseline of a step is the mean return there over recent episodes of the same key") {
  Baseline baseline(2);
  CHECK(baseline.advantages(7, {3, 4}) == std::vector<float>{0, 0});
  baseline.add(7, {100, 100});  // pushed out by the next two
  baseline.add(7, {1, 2});
  baseline.add(7, {3, 6});
  baseline.add(8, {50, 50, 50});  // another graph
  CHECK(baseline.advantages(7, {3, 5}) == std::vector<float>{1, 1});
  CHECK(baseline.advantages(8, {50, 51, 49}) == std::vector<float>{0, 1, -1});
  CHECK(baseline.advantages(8, {50, 51}) == std::vector<float>{0, 0});  // of another length
}

TEST_CASE("a baseline survives being written, and cut bytes are refused") {
  Baseline baseline(3), again(3);
  for (float x : {1.0f, 2.0f}) baseline.add(4, {x, 2 * x, 3 * x});
  baseline.add(9, {});
  const std::string bytes = baseline.to_bytes();
  REQUIRE(again.from_bytes(bytes));
  CHECK(again.to_bytes() == bytes);
  CHECK(again.advantages(4, {0, 0, 0}) == baseline.advantages(4, {0, 0, 0}));
  for (size_t length = 0; length < bytes.size(); ++length) {
    CHECK(!Baseline(3).from_bytes(std::string_view(bytes).substr(0, length)));
  }
}

TEST_CASE("an episode is compared with the mean of its siblings at the same step") {
  const auto advantages = sibling_advantages({{1, 0}, {2, 0}, {6, 3}});
  CHECK(advantages[0] == std::vector<float>{-3, -1.5f});
  CHECK(advantages[1] == std::vector<float>{-1.5f, -1.5f});
  CHECK(advantages[2] == std::vector<float>{4.5f, 3});
}
