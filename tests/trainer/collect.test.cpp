#include "trainer/pairwise/collect.h"

#include <doctest/doctest.h>

#include <cmath>

#include "tests/trainer/support.h"

using namespace placeto;
using namespace placeto::train;

TEST_CASE("collecting is deterministic, near the wanted size, and within the feature ranges") {
  const Config config = test::small_config();
  for (uint64_t seed = 0; seed < 8; ++seed) {
    const Instance instance = draw_problem(config.data, seed);
    const Samples a =
        collect(instance, nullptr, config.collect, test::gains_within(-0.05, 0.25), seed);
    const Samples b =
        collect(instance, nullptr, config.collect, test::gains_within(-0.05, 0.25), seed);
    CHECK(a.rows == b.rows);
    CHECK(a.gains == b.gains);
    CHECK(a.decisions() <= 3 * config.collect.decisions);
    for (uint32_t r = 0; r < a.row_count(); ++r) {
      CHECK(a.gains[r] >= -0.05f);
      CHECK(a.gains[r] <= 0.25f);
      for (uint32_t c = 0; c < kPairFeatures; ++c) {
        CHECK(a.row(r)[c] >= kPairFeatureList[c].low);
        CHECK(a.row(r)[c] <= kPairFeatureList[c].high);
      }
    }
  }
}

TEST_CASE("with imitation, decisions say what the search made of the group") {
  const Config config = test::small_config();
  LearnConfig learn = test::gains_within(-0.05, 0.25);
  const Instance instance = draw_problem(config.data, 3);
  const Samples without = collect(instance, nullptr, config.collect, learn, 3);
  learn.imitation = 1;
  const Samples with = collect(instance, nullptr, config.collect, learn, 3);
  CHECK(with.rows == without.rows);
  CHECK(with.gains == without.gains);
  uint32_t stays = 0, moves = 0;
  for (uint32_t g = 0; g < with.decisions(); ++g) {
    CHECK(without.expert[g] == Samples::kNoExpert);
    if (with.expert[g] == Samples::kNoExpert) continue;
    const uint32_t candidates = with.offset[g + 1] - with.offset[g];
    CHECK(with.expert[g] <= candidates);
    ++(with.expert[g] == candidates ? stays : moves);
  }
  CHECK(stays > 0);
  CHECK(moves > 0);
}

// Two nodes without an edge on two equal devices, both first on one of them:
//
//   a (100 us)   b (100 us)
//
// Moving either halves the makespan: the gain is ln 2. Once they are apart, moving one back loses
// it. A move of both together changes nothing.
TEST_CASE("gains are exact changes of log makespan") {
  GraphSpec graph;
  graph.nodes.resize(2);
  for (NodeSpec& node : graph.nodes) node.cost_us = {100};
  graph.nodes[0].name = "a";
  graph.nodes[1].name = "b";
  TopologySpec topology;
  for (const char* name : {"gpu:0", "gpu:1"}) {
    topology.devices.push_back({.name = name, .kind = "gpu"});
  }
  topology.default_link.bandwidth_bytes_per_us = 1;
  Instance instance;
  instance.graph = std::make_unique<Graph>(*Graph::build(graph));
  instance.topology = std::make_unique<Topology>(*Topology::build(topology));
  instance.problem =
      std::make_unique<Problem>(*Problem::build(*instance.graph, *instance.topology));
  CollectConfig config = test::small_config().collect;
  uint32_t apart = 0, together = 0;
  for (uint64_t seed = 0; seed < 60; ++seed) {
    const Samples samples = collect(instance, nullptr, config, test::gains_within(-1, 1), seed);
    for (const float gain : samples.gains) {
      const bool known =
          std::abs(gain) < 1e-6f || std::abs(std::abs(gain) - std::log(2.0f)) < 1e-6f;
      CHECK(known);
      apart += gain > 0.5f ? 1 : 0;
      together += gain < -0.5f ? 1 : 0;
    }
  }
  CHECK(apart > 0);
  CHECK(together > 0);
}
