#include "runtime/cost/stages.h"

#include <algorithm>
#include <bit>
#include <numeric>

#include "runtime/base/no_index.h"
#include "runtime/base/random.h"

namespace placeto {

// Devices that are tried to start with: each costs as much as going through the graph.
static constexpr uint32_t kMostStarts = 16;

uint32_t Division::add_stage(uint32_t on_device, uint32_t beside, bool before) {
  const uint32_t stage = stage_count();
  device.push_back(on_device);
  const auto at = std::find(order.begin(), order.end(), beside);
  if (at != order.end()) order.insert(before ? at : at + 1, stage);
  return stage;
}

StageFormer::StageFormer(const StageGraph& graph, uint32_t device_count, Stop* stop)
    : graph_(graph),
      predecessors_(graph.node_count(), 0),
      begun_(graph.node_count(), device_count),
      at_(begun_),
      next_(graph.node_count()),
      open_(device_count),
      before_(graph.node_count()),
      behind_(graph.node_count()),
      reads_elsewhere_(graph.node_count()),
      sends_elsewhere_(graph.node_count()),
      found_(std::bit_ceil(size_t{2} * graph.node_count())) {
  keys_.reserve(graph.node_count());
  other_.stage_of.reserve(graph.node_count());
  other_.device.reserve(graph.node_count());
  taken_by_.reserve(graph.node_count());
  best_taken_by_.reserve(graph.node_count());
  for (uint32_t target : watched(graph.target, stop)) ++predecessors_[target];
  for (uint32_t v : watched(graph.order, stop)) {
    if (predecessors_[v] == 0) roots_.push_back(v);
  }
}

bool StageFormer::form(std::span<const uint32_t> device_of, StageRule rule, Division& division,
                       Stop* stop) {
  division.order.clear();
  switch (rule) {
    case StageRule::kFewest:
      return fewest(device_of, division, stop);
    case StageRule::kOverlap:
      return overlap(device_of, division, stop);
    case StageRule::kCrossings:
      return crossings(device_of, division, stop);
  }
  return false;
}

// What a start finds: the roots are ready, and nothing has been taken.
//
// A node that reads nothing and whose readers are all on its device, as what dequantizes a weight,
// is in the first stage that reads it: taken as soon as it can be, it would only make a cut. False
// if stopped.
bool StageFormer::prepare(std::span<const uint32_t> device_of, Stop* stop) {
  std::fill(begun_.ready.begin(), begun_.ready.end(), kNoIndex);
  std::fill(begun_.ready_count.begin(), begun_.ready_count.end(), 0);
  std::copy(predecessors_.begin(), predecessors_.end(), begun_.missing.begin());
  for (uint32_t v : roots_) {
    const auto readers =
        graph_.target.subspan(graph_.begin[v], graph_.begin[v + 1] - graph_.begin[v]);
    bool waits = !readers.empty();
    for (uint32_t w : watched(readers, stop)) waits &= device_of[w] == device_of[v];
    if (!waits) make_ready(v, device_of[v], begun_);
    for (uint32_t w : watched(readers, stop)) {
      if (waits && --begun_.missing[w] == 0) make_ready(w, device_of[w], begun_);
    }
    if (spend(stop, 1 + readers.size())) return false;
  }
  return true;
}

// Takes all that `device` can run now into the stage.
void StageFormer::peel(uint32_t device, uint32_t stage, std::span<const uint32_t> device_of,
                       std::span<uint32_t> stage_of, Stop* stop) {
  while (at_.ready[device] != kNoIndex) {
    const uint32_t v = at_.ready[device];
    at_.ready[device] = next_[v];
    stage_of[v] = stage;
    taken_ += Random(v).next();
    in_pieces(graph_.begin[v], graph_.begin[v + 1], stop, [&](uint32_t i) {
      const uint32_t w = graph_.target[i];
      if (--at_.missing[w] == 0) make_ready(w, device_of[w], at_);
    });
    if (spend(stop, 1 + graph_.begin[v + 1] - graph_.begin[v])) break;
  }
  at_.ready_count[device] = 0;
}

// Peeling that starts with `device`, given up when it needs more than `most` stages: what follows
// depends on nothing but what has been taken, so that is known as soon as the best start so far had
// taken the same with no more of them. False if it was, and if stopped.
bool StageFormer::peel_from(uint32_t device, uint32_t most, std::span<const uint32_t> device_of,
                            Division& division, Stop* stop) {
  at_ = begun_;
  taken_ = 0;
  taken_by_.clear();
  division.device.clear();
  division.stage_of.assign(graph_.node_count(), kNoIndex);
  while (at_.ready_count[device] != 0) {
    if (division.stage_count() == most) return false;
    const uint32_t stage = division.stage_count();
    division.device.push_back(device);
    peel(device, stage, device_of, division.stage_of, stop);
    if (most != kNoIndex && best_taken_by_[stage] == taken_) return false;
    taken_by_.push_back(taken_);
    for (uint32_t d = 0; d < at_.ready.size(); ++d) {
      if (at_.ready_count[d] > at_.ready_count[device]) device = d;
    }
    if (spend(stop, 1 + Stop::looked_up(at_.ready.size()))) return false;
  }
  for (uint32_t v : roots_) {
    in_pieces(graph_.begin[v], graph_.begin[v + 1], stop, [&](uint32_t i) {
      const uint32_t reader = division.stage_of[graph_.target[i]];
      division.stage_of[v] = std::min(division.stage_of[v], reader);  // of others it is not lower
    });
    if (spend(stop, 1 + graph_.begin[v + 1] - graph_.begin[v])) return false;
  }
  return true;
}

bool StageFormer::fewest(std::span<const uint32_t> device_of, Division& division, Stop* stop) {
  division.device.clear();
  division.stage_of.assign(graph_.node_count(), kNoIndex);
  if (!prepare(device_of, stop)) return false;
  uint32_t most = kNoIndex, starts = kMostStarts;
  for (uint32_t d = 0; d < begun_.ready.size() && most != 0 && starts > 0; ++d) {
    if (begun_.ready_count[d] == 0) continue;
    --starts;
    if (peel_from(d, most, device_of, other_, stop)) {
      most = other_.stage_count() - 1;
      std::swap(division.stage_of, other_.stage_of);
      std::swap(division.device, other_.device);
      std::swap(taken_by_, best_taken_by_);
    }
    if (stopped(stop)) return false;
  }
  return true;
}

bool StageFormer::overlap(std::span<const uint32_t> device_of, Division& division, Stop* stop) {
  std::fill(open_.begin(), open_.end(), kNoIndex);
  std::fill(reads_elsewhere_.begin(), reads_elsewhere_.end(), 0);
  std::fill(sends_elsewhere_.begin(), sends_elsewhere_.end(), 0);
  division.device.clear();
  division.stage_of.assign(graph_.node_count(), kNoIndex);
  for (uint32_t v : graph_.order) {
    in_pieces(graph_.begin[v], graph_.begin[v + 1], stop, [&](uint32_t i) {
      if (device_of[graph_.target[i]] == device_of[v]) return;
      reads_elsewhere_[graph_.target[i]] = 1;
      sends_elsewhere_[v] = 1;
    });
    if (spend(stop, 1 + graph_.begin[v + 1] - graph_.begin[v])) return false;
    uint32_t& stage = open_[device_of[v]];
    if (stage == kNoIndex || reads_elsewhere_[v] != 0) {
      stage = division.stage_count();
      division.device.push_back(device_of[v]);
    }
    division.stage_of[v] = stage;
    if (sends_elsewhere_[v] != 0) stage = kNoIndex;
  }
  return true;
}

// Per node, changes of the device on the longest way to it and on that from it.
bool StageFormer::count_crossings(std::span<const uint32_t> device_of, Stop* stop) {
  std::fill(before_.begin(), before_.end(), 0);
  std::fill(behind_.begin(), behind_.end(), 0);
  const size_t nodes = graph_.order.size();
  for (size_t n = 0; n < 2 * nodes; ++n) {  // forwards, then backwards
    const uint32_t v = graph_.order[n < nodes ? n : 2 * nodes - 1 - n];
    in_pieces(graph_.begin[v], graph_.begin[v + 1], stop, [&](uint32_t i) {
      const uint32_t w = graph_.target[i], crosses = device_of[v] != device_of[w] ? 1 : 0;
      if (n < nodes) {
        before_[w] = std::max(before_[w], before_[v] + crosses);
      } else {
        behind_[v] = std::max(behind_[v], behind_[w] + crosses);
      }
    });
    if (spend(stop, 1 + graph_.begin[v + 1] - graph_.begin[v])) return false;
  }
  return true;
}

bool StageFormer::crossings(std::span<const uint32_t> device_of, Division& division, Stop* stop) {
  division.device.clear();
  division.stage_of.assign(graph_.node_count(), kNoIndex);
  if (!count_crossings(device_of, stop)) return false;
  // Equal for nodes of one stage alone; stages are numbered by the difference, that is what it
  // begins with.
  const uint64_t nodes = graph_.node_count(), devices = open_.size();
  const size_t mask = found_.size() - 1;
  std::fill(found_.begin(), found_.end(), kNoIndex);
  keys_.clear();
  for (const uint32_t v : graph_.order) {
    const uint64_t key =
        ((nodes + before_[v] - behind_[v]) * nodes + before_[v]) * devices + device_of[v];
    size_t at = (key * 0x9e3779b97f4a7c15) >> 32 & mask;
    while (found_[at] != kNoIndex && keys_[found_[at]] != key) at = (at + 1) & mask;
    if (found_[at] == kNoIndex) {
      found_[at] = static_cast<uint32_t>(keys_.size());
      keys_.push_back(key);
    }
    division.stage_of[v] = found_[at];
  }
  // From here on, by difference: where its stages begin.
  std::fill(found_.begin(), found_.end(), 0);
  const auto after = [&](uint64_t key) -> uint32_t& { return found_[key / (nodes * devices)]; };
  for (const uint64_t key : keys_) ++after(key);
  std::exclusive_scan(found_.begin(), found_.end(), found_.begin(), 0u);
  division.device.resize(keys_.size());
  for (uint64_t& key : keys_) {
    const uint32_t number = after(key)++;
    division.device[number] = static_cast<uint32_t>(key % devices);
    key = number;
  }
  for (const uint32_t v : graph_.order) {
    division.stage_of[v] = static_cast<uint32_t>(keys_[division.stage_of[v]]);
  }
  return !spend(stop, 4 * nodes);
}

bool StageNumbering::connect(const Division& division, Stop* stop) {
  const uint32_t stages = division.stage_count();
  missing_.assign(stages, 0);
  nodes_.assign(stages, 0);
  begin_.assign(stages + 2, 0);  // from the second on, so that filling in leaves beginnings
  for (const uint32_t v : graph_.order) {
    const uint32_t from = division.stage_of[v];
    ++nodes_[from];
    for (uint32_t i = graph_.begin[v]; i < graph_.begin[v + 1]; ++i) {
      const uint32_t to = division.stage_of[graph_.target[i]];
      if (to == from) continue;
      ++begin_[from + 2];
      ++missing_[to];
    }
    if (spend(stop, 1 + graph_.begin[v + 1] - graph_.begin[v])) return false;
  }
  std::partial_sum(begin_.begin(), begin_.end(), begin_.begin());
  after_.resize(begin_.back());
  for (const uint32_t v : graph_.order) {
    const uint32_t from = division.stage_of[v];
    for (uint32_t i = graph_.begin[v]; i < graph_.begin[v + 1]; ++i) {
      const uint32_t to = division.stage_of[graph_.target[i]];
      if (to != from) after_[begin_[from + 1]++] = to;
    }
  }
  return true;
}

// Next is the first of the recorded order, or of the numbers so far, among stages that could be.
bool StageNumbering::number(const Division& division, Stop* stop) {
  const uint32_t stages = division.stage_count();
  place_.resize(stages);
  std::iota(place_.begin(), place_.end(), 0u);
  for (uint32_t i = 0; i < division.order.size(); ++i) place_[division.order[i]] = i;
  number_.assign(stages, kNoIndex);
  device_.clear();
  ready_.clear();
  for (uint32_t s = 0; s < stages; ++s) {
    if (missing_[s] == 0) ready_.push_back(s);
  }
  const auto lower = [&](uint32_t a, uint32_t b) { return place_[a] > place_[b]; };
  std::make_heap(ready_.begin(), ready_.end(), lower);
  uint32_t taken = 0;
  for (; !ready_.empty(); ++taken) {
    std::pop_heap(ready_.begin(), ready_.end(), lower);
    const uint32_t s = ready_.back();
    ready_.pop_back();
    if (nodes_[s] != 0) {
      number_[s] = static_cast<uint32_t>(device_.size());
      device_.push_back(division.device[s]);
    }
    for (uint32_t i = begin_[s]; i < begin_[s + 1]; ++i) {
      if (--missing_[after_[i]] != 0) continue;
      ready_.push_back(after_[i]);
      std::push_heap(ready_.begin(), ready_.end(), lower);
    }
    if (spend(stop, 1 + begin_[s + 1] - begin_[s])) return false;
  }
  return taken == stages;
}

bool StageNumbering::renew(Division& division, Stop* stop) {
  if (!connect(division, stop) || !number(division, stop)) return false;
  for (const uint32_t v : graph_.order) division.stage_of[v] = number_[division.stage_of[v]];
  division.device = device_;
  if (!division.order.empty()) {
    division.order.resize(division.device.size());
    std::iota(division.order.begin(), division.order.end(), 0u);
  }
  return true;
}

}  // namespace placeto
