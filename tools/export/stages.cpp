#include "tools/export/stages.h"

#include <algorithm>
#include <cassert>

namespace placeto {
namespace {

struct View {
  std::span<const std::vector<uint32_t>> predecessors;
  std::span<const uint32_t> device;
  uint32_t device_count;
  const std::vector<bool>& live;
  std::vector<std::vector<uint32_t>> successors;

  uint32_t size() const { return static_cast<uint32_t>(device.size()); }
};

std::vector<std::vector<uint32_t>> invert(std::span<const std::vector<uint32_t>> predecessors,
                                          const std::vector<bool>& live) {
  std::vector<std::vector<uint32_t>> successors(predecessors.size());
  for (uint32_t v = 0; v < predecessors.size(); ++v) {
    if (!live[v]) continue;
    for (const uint32_t u : predecessors[v]) {
      assert(u < v && live[u]);
      successors[u].push_back(v);
    }
  }
  return successors;
}

// Nodes that need nothing that is not taken, per device.
using Ready = std::vector<std::vector<uint32_t>>;

// Takes all that `device` can run now into the stage.
void peel(const View& view, uint32_t device, std::vector<uint32_t>& missing, Ready& ready,
          Stages& stages) {
  const auto stage = static_cast<uint32_t>(stages.device.size());
  stages.device.push_back(device);
  std::vector<uint32_t>& mine = ready[device];
  while (!mine.empty()) {
    const uint32_t v = mine.back();
    mine.pop_back();
    stages.of_node[v] = stage;
    for (const uint32_t w : view.successors[v]) {
      if (--missing[w] == 0) ready[view.device[w]].push_back(w);
    }
  }
}

// Peeling that starts with `device`.
Stages peel_from(const View& view, uint32_t device) {
  Stages stages{std::vector<uint32_t>(view.size(), kNoStage), {}};
  std::vector<uint32_t> missing(view.size());
  Ready ready(view.device_count);
  for (uint32_t v = 0; v < view.size(); ++v) {
    if (!view.live[v]) continue;
    missing[v] = static_cast<uint32_t>(view.predecessors[v].size());
    if (missing[v] == 0) ready[view.device[v]].push_back(v);
  }
  while (!ready[device].empty()) {
    peel(view, device, missing, ready, stages);
    for (uint32_t d = 0; d < view.device_count; ++d) {
      if (ready[d].size() > ready[device].size()) device = d;
    }
  }
  return stages;
}

Stages fewest(const View& view) {
  Stages best;
  for (uint32_t d = 0; d < view.device_count; ++d) {
    Stages stages = peel_from(view, d);
    if (stages.device.empty()) continue;  // nothing can start there
    if (best.device.empty() || stages.device.size() < best.device.size()) best = std::move(stages);
  }
  if (best.of_node.empty()) best.of_node.assign(view.size(), kNoStage);
  return best;
}

Stages overlap(const View& view) {
  const auto elsewhere = [&](uint32_t v, std::span<const uint32_t> others) {
    return std::any_of(others.begin(), others.end(),
                       [&](uint32_t u) { return view.device[u] != view.device[v]; });
  };
  Stages stages{std::vector<uint32_t>(view.size(), kNoStage), {}};
  std::vector<uint32_t> open(view.device_count, kNoStage);  // stage that still takes nodes
  for (uint32_t v = 0; v < view.size(); ++v) {
    if (!view.live[v]) continue;
    uint32_t& stage = open[view.device[v]];
    if (stage == kNoStage || elsewhere(v, view.predecessors[v])) {
      stage = static_cast<uint32_t>(stages.device.size());
      stages.device.push_back(view.device[v]);
    }
    stages.of_node[v] = stage;
    if (elsewhere(v, view.successors[v])) stage = kNoStage;
  }
  return stages;
}

}  // namespace

Stages find_stages(std::span<const std::vector<uint32_t>> predecessors,
                   std::span<const uint32_t> device, uint32_t device_count,
                   const std::vector<bool>& live, StageRule rule) {
  assert(predecessors.size() == device.size() && live.size() == device.size());
  const View view{predecessors, device, device_count, live, invert(predecessors, live)};
  return rule == StageRule::kFewest ? fewest(view) : overlap(view);
}

}  // namespace placeto
