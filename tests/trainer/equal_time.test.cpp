#include "trainer/eval/equal_time.h"

#include <doctest/doctest.h>

#include <cmath>

#include "trainer/base/interval.h"
#include "trainer/pairwise/learner.h"
#include "trainer/train/export.h"

using namespace placeto;
using namespace placeto::train;

TEST_CASE("between two runs, time and makespan are on a straight line of logarithms") {
  const std::vector<TimedMakespan> runs = {{1, 100}, {4, 80}, {16, 60}};
  CHECK(log_makespan_at(runs, 2) == doctest::Approx((std::log(100) + std::log(80)) / 2));
  CHECK(log_makespan_at(runs, 4) == doctest::Approx(std::log(80)));
  CHECK(log_makespan_at(runs, 0.1) == doctest::Approx(std::log(100)));
  CHECK(log_makespan_at(runs, 100) == doctest::Approx(std::log(60)));
}

// All run for as long with the policy as without it; makespans without it are 100.
static EqualTimeRuns runs(uint32_t graph, double makespan_us) {
  return {graph, {{1, makespan_us}}, {{1, 100}}, {{1, 100}, {10, 50}}};
}

TEST_CASE("a graph on several topologies is one observation, and few graphs make wide intervals") {
  // Logarithms of graphs: (log 0.9 + log 1.1) / 2, log 0.8, log 1.2: -0.005025, -0.223144,
  // 0.182322. Their mean is -0.015282, its standard error sqrt(0.082359 / 2 / 3) = 0.117160;
  // times 4.3027, Student's t for two degrees: 0.504102.
  const std::vector<EqualTimeRuns> three = {runs(0, 90), runs(0, 110), runs(1, 80), runs(2, 120)};
  const EqualTimeRow row = equal_time_row(three, 0);
  CHECK(row.problems == 4);
  CHECK(row.graphs == 3);
  CHECK(row.ratio == doctest::Approx(0.98483).epsilon(1e-4));
  CHECK(row.equal_evaluations == doctest::Approx(0.98483).epsilon(1e-4));
  CHECK(row.least == doctest::Approx(0.59489).epsilon(1e-4));
  CHECK(row.most == doctest::Approx(1.63039).epsilon(1e-4));
}

TEST_CASE("one graph has a ratio and no interval") {
  std::vector<EqualTimeRow> rows = {equal_time_row(std::vector{runs(7, 90), runs(7, 90)}, 0)};
  rows[0].set = "own";
  CHECK(rows[0].ratio == doctest::Approx(0.9));
  CHECK(rows[0].graphs == 1);
  CHECK(std::isnan(rows[0].least));
  CHECK(equal_time_table(rows).find("0.9000             -\n") != std::string::npos);
  CHECK(equal_time_csv(rows).find(",0.9,,,1,0\n") != std::string::npos);
  CHECK(equal_time_json(rows).find("\"interval\": null") != std::string::npos);
}

TEST_CASE("who takes longer than the longest run without the policy is counted, and that is said") {
  EqualTimeRuns slow = runs(0, 45);
  slow.with[0].milliseconds = 11;
  const std::vector<EqualTimeRuns> both = {slow, runs(1, 90)};
  std::vector<EqualTimeRow> rows = {equal_time_row(both, 0)};
  rows[0].set = "ring";
  rows[0].budget = 300;
  CHECK(rows[0].beyond == 1);
  CHECK(rows[0].ratio == doctest::Approx(0.9));  // 45 / 50, and 90 / 100
  CHECK(equal_time_table(rows).find("ring, 300 evaluations: on 1 of 2 problems") !=
        std::string::npos);
  CHECK(equal_time_csv(rows).find(",2,1\n") != std::string::npos);
  CHECK(equal_time_json(rows).find("\"beyond_longest\": 1") != std::string::npos);
  rows[0].beyond = 0;
  CHECK(equal_time_table(rows).find("longest") == std::string::npos);
}

TEST_CASE("quantiles of Student's t are those of the tables, to one percent") {
  const std::vector<std::pair<uint32_t, double>> table = {
      {1, 12.706}, {2, 4.303},  {3, 3.182},  {4, 2.776},  {5, 2.571},
      {7, 2.365},  {10, 2.228}, {15, 2.131}, {30, 2.042}, {1'000, 1.962}};
  for (const auto& [degrees, t] : table) {
    CAPTURE(degrees);
    CHECK(student_t(degrees) == doctest::Approx(t).epsilon(0.0075));
  }
}

TEST_CASE("a set measured at equal time has a row per budget, with an interval around the ratio") {
  Config config;
  config.learn.hidden = {8};
  const PairwiseLearner learner(config.learn, 1);
  const auto policy = *load_exported(*export_policy(learner.policy(), config, "", 0));
  TestSetOptions options;
  options.problems = 4;
  options.fresh = true;
  const TestSet set = *test_set("ring", options);
  EqualTimeOptions what;
  what.budgets = {0, 20};
  const auto measured = measure_equal_time({&set, 1}, *policy, what);
  REQUIRE(measured.ok());
  const std::vector<EqualTimeRow>& rows = *measured;
  REQUIRE(rows.size() == 2);
  for (const EqualTimeRow& row : rows) {
    CHECK(row.set == "ring");
    CHECK(row.problems == 4);
    CHECK(row.with_ms > 0);
    CHECK(row.graphs == 4);
    CHECK(row.least > 0);
    CHECK(row.ratio > 0.5);
    CHECK(row.ratio < 2);
  }
  CHECK(rows[1].budget == 20);
  CHECK(equal_time_csv(rows).find("ring,4,20,") != std::string::npos);
}

TEST_CASE("fresh problems are other ones than those of every other measurement") {
  TestSetOptions known, fresh;
  known.problems = fresh.problems = 1;
  fresh.fresh = true;
  const Instance a = test_set("mixed", known)->problems[0](),
                 b = test_set("mixed", fresh)->problems[0]();
  CHECK(a.problem->upward_rank()[0] != b.problem->upward_rank()[0]);
}
