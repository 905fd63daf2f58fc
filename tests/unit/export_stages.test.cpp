// Cutting placements into stages.
#include <doctest/doctest.h>

#include <algorithm>
#include <vector>

#include "runtime/base/random.h"
#include "tools/export/stages.h"

namespace placeto {
namespace {

using Predecessors = std::vector<std::vector<uint32_t>>;

Stages stages_of(const Predecessors& predecessors, const std::vector<uint32_t>& device,
                 StageRule rule) {
  const uint32_t devices = *std::max_element(device.begin(), device.end()) + 1;
  const std::vector<bool> live(device.size(), true);
  return find_stages(predecessors, device, devices, live, rule);
}

// One device per stage, and no dependency on a later stage.
void check(const Predecessors& predecessors, const std::vector<uint32_t>& device,
           const Stages& stages) {
  for (size_t v = 0; v < device.size(); ++v) {
    REQUIRE(stages.of_node[v] < stages.device.size());
    CHECK(stages.device[stages.of_node[v]] == device[v]);
    for (const uint32_t u : predecessors[v]) CHECK(stages.of_node[u] <= stages.of_node[v]);
  }
}

//    0 - 1(gpu) - 3
//     \          /
//      2 -------
TEST_CASE("a device takes all that it can run before another has its turn") {
  const Predecessors predecessors = {{}, {0}, {0}, {1, 2}};
  const Stages stages = stages_of(predecessors, {0, 1, 0, 0}, StageRule::kFewest);
  CHECK(stages.of_node == std::vector<uint32_t>{0, 1, 0, 2});
  CHECK(stages.device == std::vector<uint32_t>{0, 1, 0});
}

TEST_CASE("stages for overlap end where another device waits") {
  const Predecessors predecessors = {{}, {0}, {0}, {1, 2}};
  const Stages stages = stages_of(predecessors, {0, 1, 0, 0}, StageRule::kOverlap);
  CHECK(stages.of_node == std::vector<uint32_t>{0, 1, 2, 3});
}

// Starting with the device of node 0 would take three stages.
TEST_CASE("the device that starts is chosen for the fewest stages") {
  const Predecessors predecessors = {{}, {}, {1}};
  const Stages stages = stages_of(predecessors, {0, 1, 0}, StageRule::kFewest);
  CHECK(stages.device == std::vector<uint32_t>{1, 0});
}

TEST_CASE("nodes that nothing needs get no stage") {
  const Predecessors predecessors = {{}, {0}};
  const std::vector<uint32_t> device = {0, 1};
  const Stages stages = find_stages(predecessors, device, 2, {true, false}, StageRule::kFewest);
  CHECK(stages.of_node == std::vector<uint32_t>{0, kNoStage});
  CHECK(stages.device.size() == 1);
  CHECK(find_stages(predecessors, device, 2, {false, false}, StageRule::kFewest).device.empty());
}

TEST_CASE("random placements of random graphs never make a circle of stages") {
  Random random(3);
  for (int round = 0; round < 200; ++round) {
    const uint32_t count = 1 + random.below(60);
    const uint32_t devices = 1 + random.below(5);
    Predecessors predecessors(count);
    std::vector<uint32_t> device(count);
    for (uint32_t v = 0; v < count; ++v) {
      device[v] = random.below(devices);
      for (uint32_t u = 0; u < v; ++u) {
        if (random.below(8) == 0) predecessors[v].push_back(u);
      }
    }
    const Stages fewest = stages_of(predecessors, device, StageRule::kFewest);
    const Stages overlap = stages_of(predecessors, device, StageRule::kOverlap);
    check(predecessors, device, fewest);
    check(predecessors, device, overlap);
    for (uint32_t v = 0; v < count; ++v) {  // overlap: tensors enter at first nodes, leave at last
      for (const uint32_t u : predecessors[v]) {
        if (device[u] == device[v]) continue;
        for (uint32_t w = 0; w < count; ++w) {
          if (overlap.of_node[w] == overlap.of_node[v]) CHECK(w >= v);
          if (overlap.of_node[w] == overlap.of_node[u]) CHECK(w <= u);
        }
      }
    }
  }
}

}  // namespace
}  // namespace placeto
