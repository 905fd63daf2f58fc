#include "trainer/eval/starts.h"

#include <doctest/doctest.h>

#include "tests/trainer/support.h"
#include "trainer/published/learner.h"
#include "trainer/train/export.h"

using namespace placeto;
using namespace placeto::train;

TEST_CASE("greedy passes never end above their start, and the RNN's effort is counted") {
  TestSetOptions sets;
  sets.problems = 2;
  sets.groups = 100;
  const TestSet set = *test_set("nmt", sets);
  const PublishedLearner learner({.rounds = 1}, 2, 1);
  const auto policy = *load_exported(*export_policy(learner.policy(), Config{}, "", 0));
  const NamedPolicy named{"drawn", policy};
  const auto rows = measure_starts({&set, 1}, {&named, 1}, {1, 40, 1});
  REQUIRE(rows.ok());
  REQUIRE(rows->size() == 1);
  const StartRow& row = (*rows)[0];
  CHECK(row.graphs == 2);
  CHECK(row.start[0] == doctest::Approx(1));
  for (size_t k = 0; k < 3; ++k) {
    CHECK(row.placed[k] <= row.start[k] + 1e-9);
    CHECK(row.steps[k] > 1);
    CHECK(row.reached[k] <= 2);
    if (row.reached[k] == 2) CHECK(row.rnn_placements[k] <= 40);
  }
  CHECK(row.rnn > 0.5);
  CHECK(starts_csv(*rows).find("nmt,2,drawn,random,") != std::string::npos);

  const NamedPolicy other{
      "four", *load_exported(
                  *export_policy(PublishedLearner({.rounds = 1}, 4, 1).policy(), Config{}, "", 0))};
  CHECK(measure_starts({&set, 1}, {&other, 1}, {}).status().code() == StatusCode::kInvalidArgument);
}

TEST_CASE("starts are measured on nothing unless the policy fits every problem") {
  const NamedPolicy two{
      "two", *load_exported(
                 *export_policy(PublishedLearner({.rounds = 1}, 2, 1).policy(), Config{}, "", 0))};
  TestSetOptions sets;
  sets.problems = 1;
  sets.groups = 20;
  TestSet set = *test_set("nmt", sets);
  sets.devices = 4;
  set.problems.push_back(test_set("nmt", sets)->problems[0]);
  const auto mixed = measure_starts({&set, 1}, {&two, 1}, {});
  REQUIRE(!mixed.ok());
  CHECK(mixed.status().code() == StatusCode::kInvalidArgument);
  CHECK(mixed.status().message() == "nmt: two: the policy places on 2 devices, the topology has 4");
  set.problems.clear();
  const auto none = measure_starts({&set, 1}, {&two, 1}, {});
  REQUIRE(none.ok());
  CHECK(none->empty());
}
