#include "trainer/pairwise/canonical.h"

#include <doctest/doctest.h>

#include "tests/trainer/support.h"
#include "trainer/data/problems.h"

using namespace placeto;
using namespace placeto::train;

namespace {

// Some twenty nodes on `devices` equal devices.
Instance equal_devices(uint32_t devices, double last_slowdown) {
  DataConfig data = test::small_config().data;
  data.unlike_share = data.memory_share = 0;
  const Instance drawn = draw_problem(data, 5);
  TopologySpec topology = drawn.topology->spec();
  topology.devices.resize(1);
  for (uint32_t d = 1; d < devices; ++d) {
    topology.devices.push_back(topology.devices[0]);
    topology.devices[d].name = "gpu:" + std::to_string(d);
  }
  topology.devices.back().slowdown = last_slowdown;
  return *make_instance(drawn.family, drawn.graph->spec(), std::move(topology));
}

}  // namespace

TEST_CASE("devices are alike until one is slower") {
  CHECK(devices_alike(*equal_devices(3, 1).problem));
  CHECK(!devices_alike(*equal_devices(3, 1.5).problem));
}

TEST_CASE("a placement with its devices renamed is recognised, and one with a node moved nearly") {
  const Instance instance = equal_devices(3, 1);
  const Problem& problem = *instance.problem;
  Assignment like(problem.node_count());
  for (uint32_t v = 0; v < problem.node_count(); ++v) like[v] = v % 3;
  Assignment turned = like;
  for (uint32_t& device : turned) device = (device + 1) % 3;
  CHECK(turned != like);
  CHECK(renamed_like(problem, turned, like) == like);
  turned[0] = turned[1];
  const Assignment renamed = renamed_like(problem, turned, like);
  CHECK(renamed[0] == like[1]);
  CHECK(std::equal(renamed.begin() + 1, renamed.end(), like.begin() + 1));
  Evaluator evaluator(problem);
  CHECK(evaluator.evaluate(renamed) == evaluator.evaluate(turned));
}
