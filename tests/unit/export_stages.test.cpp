// Cutting placements into stages.
#include <doctest/doctest.h>

#include <algorithm>
#include <vector>

#include "runtime/base/random.h"
#include "tools/export/stages.h"

namespace placeto {
namespace {

using Predecessors = std::vector<std::vector<uint32_t>>;

Division stages_of(const Predecessors& predecessors, const std::vector<uint32_t>& device,
                   StageRule rule) {
  const uint32_t devices = *std::max_element(device.begin(), device.end()) + 1;
  const std::vector<bool> live(device.size(), true);
  return *find_stages(predecessors, device, devices, live, rule);
}

// One device per stage, and no dependency on a later stage.
void check(const Predecessors& predecessors, const std::vector<uint32_t>& device,
           const Division& stages) {
  for (size_t v = 0; v < device.size(); ++v) {
    REQUIRE(stages.stage_of[v] < stages.device.size());
    CHECK(stages.device[stages.stage_of[v]] == device[v]);
    for (const uint32_t u : predecessors[v]) CHECK(stages.stage_of[u] <= stages.stage_of[v]);
  }
}

//    0 - 1(gpu) - 3
//     \          /
//      2 -------
TEST_CASE("a device takes all that it can run before another has its turn") {
  const Predecessors predecessors = {{}, {0}, {0}, {1, 2}};
  const Division stages = stages_of(predecessors, {0, 1, 0, 0}, StageRule::kFewest);
  CHECK(stages.stage_of == std::vector<uint32_t>{0, 1, 0, 2});
  CHECK(stages.device == std::vector<uint32_t>{0, 1, 0});
}

TEST_CASE("stages for overlap end where another device waits") {
  const Predecessors predecessors = {{}, {0}, {0}, {1, 2}};
  const Division stages = stages_of(predecessors, {0, 1, 0, 0}, StageRule::kOverlap);
  CHECK(stages.stage_of == std::vector<uint32_t>{0, 1, 2, 3});
}

// Starting with the device of node 0 would take three stages.
TEST_CASE("the device that starts is chosen for the fewest stages") {
  const Predecessors predecessors = {{}, {}, {1}};
  const Division stages = stages_of(predecessors, {0, 1, 0}, StageRule::kFewest);
  CHECK(stages.device == std::vector<uint32_t>{1, 0});
}

TEST_CASE("nodes that nothing needs get no stage") {
  const Predecessors predecessors = {{}, {0}};
  const std::vector<uint32_t> device = {0, 1};
  const Division stages = *find_stages(predecessors, device, 2, {true, false}, StageRule::kFewest);
  CHECK(stages.stage_of == std::vector<uint32_t>{0, kNoIndex});
  CHECK(stages.device.size() == 1);
  CHECK(find_stages(predecessors, device, 2, {false, false}, StageRule::kFewest)->device.empty());
}

TEST_CASE("recorded stages are kept, without those that no live node is in") {
  const Predecessors predecessors = {{}, {}, {1}, {2}};
  const std::vector<bool> live = {false, true, true, true};
  StageWish wish(StageRule::kFewest);
  wish.stage_of = {0, 1, 2, 2};
  wish.order = {1, 0, 2};
  const auto kept = find_stages(predecessors, std::vector<uint32_t>{1, 0, 0, 0}, 2, live, wish);
  REQUIRE(kept.ok());
  CHECK(kept->stage_of == std::vector<uint32_t>{kNoIndex, 0, 1, 1});
  CHECK(kept->device == std::vector<uint32_t>{0, 0});
  CHECK(kept->order == std::vector<uint32_t>{0, 1});
}

TEST_CASE("recorded stages that do not fit the model are refused") {
  const Predecessors predecessors = {{}, {0}, {1}};
  const auto refused = [&](std::vector<uint32_t> device, std::vector<uint32_t> stage_of,
                           std::vector<uint32_t> order) {
    StageWish wish(StageRule::kFewest);
    wish.stage_of = std::move(stage_of);
    wish.order = std::move(order);
    const auto found = find_stages(predecessors, device, 2, {true, true, true}, wish);
    return found.ok() ? "ok" : found.status().message();
  };
  CHECK(refused({0, 0, 0}, {0, 0, 1}, {}) == "ok");
  CHECK(refused({0, 1, 0}, {0, 0, 1}, {}) ==
        "stage 0 of the placement is on two devices, expected one");
  CHECK(refused({0, 0, 0}, {1, 0, 0}, {}) ==
        "stage 0 of the placement reads from stage 1, expected that every dependency leads to the "
        "same "
        "or a higher stage");
  CHECK(refused({0, 0, 0}, {0, 0, 1}, {1, 0}) ==
        "the order of the placement puts a stage before one that it reads from");
  CHECK(refused({0, 0, 0}, {0, 0, 1}, {0, 0}) ==
        "the order of the placement has not each stage once");
  CHECK(refused({0, 0, 0}, {0, 0, kNoIndex}, {}) ==
        "a node has no stage in the placement, expected one for each");
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
    const Division fewest = stages_of(predecessors, device, StageRule::kFewest);
    const Division overlap = stages_of(predecessors, device, StageRule::kOverlap);
    check(predecessors, device, fewest);
    check(predecessors, device, overlap);
    check(predecessors, device, stages_of(predecessors, device, StageRule::kCrossings));
    for (uint32_t v = 0; v < count; ++v) {  // overlap: tensors enter at first nodes, leave at last
      for (const uint32_t u : predecessors[v]) {
        if (device[u] == device[v]) continue;
        for (uint32_t w = 0; w < count; ++w) {
          if (overlap.stage_of[w] == overlap.stage_of[v]) CHECK(w >= v);
          if (overlap.stage_of[w] == overlap.stage_of[u]) CHECK(w <= u);
        }
      }
    }
  }
}

}  // namespace
}  // namespace placeto
