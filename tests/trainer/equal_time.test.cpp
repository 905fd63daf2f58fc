#include "trainer/eval/equal_time.h"

#include <doctest/doctest.h>

#include <cmath>

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
    CHECK(row.least <= row.ratio);
    CHECK(row.ratio <= row.most);
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
