#include "tools/export/stages.h"

#include <algorithm>
#include <cassert>
#include <string>

#include "runtime/base/no_index.h"

namespace placeto {
namespace {

Division form(std::span<const std::vector<uint32_t>> predecessors, std::span<const uint32_t> device,
              uint32_t device_count, const std::vector<bool>& live, StageRule rule) {
  const auto count = static_cast<uint32_t>(device.size());
  std::vector<uint32_t> order, begin(size_t{count} + 1, 0), target;
  for (uint32_t v = 0; v < count; ++v) {
    if (!live[v]) continue;
    order.push_back(v);
    for (const uint32_t u : predecessors[v]) {
      assert(u < v && live[u]);
      ++begin[size_t{u} + 1];
    }
  }
  for (uint32_t v = 0; v < count; ++v) begin[size_t{v} + 1] += begin[v];
  target.resize(begin.back());
  std::vector<uint32_t> end(begin.begin(), begin.end() - 1);
  for (const uint32_t v : order) {
    for (const uint32_t u : predecessors[v]) target[end[u]++] = v;
  }
  Division division;
  StageFormer({order, begin, target}, device_count).form(device, rule, division);
  return division;
}

std::string stage_text(uint32_t stage) {
  return "stage " + std::to_string(stage);
}

// Old number -> new one, without the stages that no live node is in.
Result<Division> keep(std::span<const std::vector<uint32_t>> predecessors,
                      std::span<const uint32_t> device, const std::vector<bool>& live,
                      const StageWish& wish) {
  const auto count = static_cast<uint32_t>(device.size());
  std::vector<uint32_t> number(size_t{count} + 1, kNoIndex);
  for (uint32_t v = 0; v < count; ++v) {
    if (!live[v]) continue;
    if (wish.stage_of[v] > count) {
      return Status::bad_input("a node has no stage in the placement, expected one for each");
    }
    number[wish.stage_of[v]] = 0;
  }
  Division division;
  for (uint32_t& n : number) {
    if (n == kNoIndex) continue;
    n = division.stage_count();
    division.device.push_back(kNoIndex);
  }
  division.stage_of.assign(count, kNoIndex);
  for (uint32_t v = 0; v < count; ++v) {
    if (!live[v]) continue;
    const uint32_t s = division.stage_of[v] = number[wish.stage_of[v]];
    if (division.device[s] != kNoIndex && division.device[s] != device[v]) {
      return Status::bad_input(stage_text(wish.stage_of[v]) +
                               " of the placement is on two devices, expected one");
    }
    division.device[s] = device[v];
    for (const uint32_t u : predecessors[v]) {
      if (division.stage_of[u] <= s) continue;
      return Status::bad_input(
          stage_text(wish.stage_of[v]) + " of the placement reads from " +
          stage_text(wish.stage_of[u]) +
          ", expected that every dependency leads to the same or a higher stage");
    }
  }
  for (const uint32_t s : wish.order) {
    if (s <= count && number[s] != kNoIndex) division.order.push_back(number[s]);
  }
  return division;
}

Status check_order(std::span<const std::vector<uint32_t>> predecessors, const Division& division) {
  if (division.order.empty()) return {};
  std::vector<uint32_t> position(division.stage_count(), kNoIndex);
  for (uint32_t i = 0; i < division.order.size(); ++i) position[division.order[i]] = i;
  const auto missing = std::find(position.begin(), position.end(), kNoIndex);
  if (missing != position.end() || division.order.size() != position.size()) {
    return Status::bad_input("the order of the placement has not each stage once");
  }
  for (uint32_t v = 0; v < predecessors.size(); ++v) {
    if (division.stage_of[v] == kNoIndex) continue;
    for (const uint32_t u : predecessors[v]) {
      if (position[division.stage_of[u]] <= position[division.stage_of[v]]) continue;
      return Status::bad_input(
          "the order of the placement puts a stage before one that it reads from");
    }
  }
  return {};
}

}  // namespace

Result<Division> find_stages(std::span<const std::vector<uint32_t>> predecessors,
                             std::span<const uint32_t> device, uint32_t device_count,
                             const std::vector<bool>& live, const StageWish& wish) {
  assert(predecessors.size() == device.size() && live.size() == device.size());
  if (wish.stage_of.empty()) return form(predecessors, device, device_count, live, wish.rule);
  Result<Division> kept = keep(predecessors, device, live, wish);
  if (!kept.ok()) return kept;
  if (Status s = check_order(predecessors, *kept); !s.ok()) return s;
  return kept;
}

}  // namespace placeto
