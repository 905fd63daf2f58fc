#include "trainer/data/problems.h"

#include <doctest/doctest.h>

#include <set>

using namespace placeto;
using namespace placeto::train;

TEST_CASE("the same seed draws the same problem, another seed another one") {
  const DataConfig config;
  const Instance a = draw_problem(config, 5), b = draw_problem(config, 5);
  CHECK(a.family == b.family);
  REQUIRE(a.problem->node_count() == b.problem->node_count());
  REQUIRE(a.problem->device_count() == b.problem->device_count());
  for (uint32_t v = 0; v < a.problem->node_count(); ++v) {
    CHECK(a.problem->mean_run_us(v) == b.problem->mean_run_us(v));
  }
  std::set<double> ranks;
  for (uint64_t seed = 0; seed < 20; ++seed) {
    ranks.insert(draw_problem(config, seed).problem->upward_rank()[0]);
  }
  CHECK(ranks.size() > 15);
}

TEST_CASE("problems keep to the configured sizes and cover every family and kind of topology") {
  DataConfig config;
  config.large_share = 0;
  std::set<std::string> families;
  uint32_t unlike = 0, limited = 0, networks = 0, with_links = 0;
  for (uint64_t seed = 0; seed < 150; ++seed) {
    const Instance i = draw_problem(config, seed);
    families.insert(i.family);
    const uint32_t most = i.ccr == 0 ? config.max_network_nodes : config.max_nodes;
    CHECK(i.problem->node_count() <= most);
    CHECK(i.problem->device_count() >= 2);
    CHECK(i.problem->device_count() <= config.max_devices);
    unlike += i.problem->class_count() > 1 ? 1 : 0;
    limited += i.problem->memory_limited() ? 1 : 0;
    networks += i.ccr == 0 ? 1 : 0;
    with_links += i.topology->uniform_links() ? 0 : 1;
  }
  CHECK(families.size() > 10);
  for (const uint32_t count : {unlike, limited, networks, with_links}) {
    CHECK(count > 5);
    CHECK(count < 100);
  }
}

TEST_CASE("training, validation and test problems come from different seeds") {
  std::set<uint64_t> seeds;
  for (uint64_t i = 0; i < 1'000; ++i) {
    for (const Split split : {Split::kTrain, Split::kValidation, Split::kTest}) {
      seeds.insert(problem_seed(split, 1, i));
    }
  }
  CHECK(seeds.size() == 3'000);
  CHECK(problem_seed(Split::kTest, 1, 7) == problem_seed(Split::kTest, 2, 7));
  CHECK(problem_seed(Split::kTrain, 1, 7) != problem_seed(Split::kTrain, 2, 7));
}
