#include "runtime/search/group_moves.h"

#include <algorithm>
#include <limits>

namespace placeto {
namespace {

// How often a move starts from a node that the makespan waits for, and how often it goes to the
// device of a neighbour. Anchors on the waiting chain 0, 0.3, 0.6, 0.9 of the time, mean ratio to
// the best known after 1,000 moves on 60 random graphs of 40 to 160 nodes: 1.052, 1.044, 1.042,
// 1.042.
constexpr double kOnChain = 0.6, kToNeighbour = 0.5;
// How often what moves sends a group of where it goes back in exchange; where memory is limited,
// more often, and some of them to another device.
constexpr double kExchange = 0.15, kExchangeInMemory = 0.3, kElsewhere = 0.3;
// For throughput: how often a border of a stage is shifted, and two devices exchange what they have
// (tests/bench/results/search.md, "Pipelines").
constexpr double kShift = 0.4, kExchangeDevices = 0.08;
// Groups that a disturbance moves: a share of a level's, and no more than so many.
constexpr double kDisturbed = 0.15;
constexpr uint32_t kMostDisturbed = 8;

}  // namespace

GroupMoves::GroupMoves(const Hierarchy& hierarchy, const MoveEvaluator& evaluator,
                       ProposalRanker* ranker)
    : hierarchy_(hierarchy),
      evaluator_(evaluator),
      problem_(evaluator.problem()),
      ranker_(ranker) {}

void GroupMoves::base_changed() {
  chain_is_old_ = true;
  if (ranker_ != nullptr) ranker_->refresh(evaluator_);
}

void GroupMoves::propose(double used, Random& random, std::vector<Change>& changes) {
  changes.clear();
  if (!problem_.is_for_latency()) {
    const double kind = random.uniform();
    if (kind < kShift) return shift_border(random, changes);
    if (kind < kShift + kExchangeDevices) return exchange_devices(random, changes);
  }
  Move best{};
  bool found = false;
  float best_score = -std::numeric_limits<float>::infinity();
  const uint32_t most = ranker_ == nullptr ? 1 : ranker_->proposals();
  // No more once they come to more nodes than the graph has: ranking takes as long as evaluating.
  size_t ranked = 0;
  for (uint32_t i = 0; i < most && ranked <= problem_.node_count(); ++i) {
    const Move move = draw(used, random);
    ranked += hierarchy_.nodes(move.level, move.group).size();
    if (!changes_something(move)) continue;
    const float score =
        most == 1 ? 0 : ranker_->score(move.level, move.group, move.device, best_score);
    if (!found || score > best_score) {
      best = move;
      best_score = score;
    }
    found = true;
  }
  if (!found) return;
  add_changes(best.level, best.group, best.device, changes);
  const double share = problem_.memory_limited() ? kExchangeInMemory : kExchange;
  if (random.uniform() < share) exchange(best, random, changes);
}

void GroupMoves::add_changes(uint32_t level, uint32_t group, uint32_t device,
                             std::vector<Change>& changes) const {
  for (uint32_t v : watched(hierarchy_.nodes(level, group), evaluator_.stop())) {
    if (evaluator_.assignment()[v] != device) changes.push_back({v, device});
  }
}

// A group of the same level leaves the device that the move goes to.
void GroupMoves::exchange(const Move& move, Random& random, std::vector<Change>& changes) {
  constexpr int kTries = 8;
  const uint32_t from = evaluator_.assignment()[hierarchy_.nodes(move.level, move.group)[0]];
  const bool elsewhere = problem_.memory_limited() && random.uniform() < kElsewhere;
  const uint32_t to = elsewhere ? random.below(problem_.device_count()) : from;
  if (to == move.device) return;
  for (int i = 0; i < kTries; ++i) {
    const uint32_t group = random.below(hierarchy_.group_count(move.level));
    const auto nodes = hierarchy_.nodes(move.level, group);
    const bool there = std::all_of(nodes.begin(), nodes.end(), [&](uint32_t v) {
      return evaluator_.assignment()[v] == move.device;
    });
    if (group == move.group || !there || !hierarchy_.allowed(move.level, group, to)) continue;
    return add_changes(move.level, group, to, changes);
  }
}

void GroupMoves::send(uint32_t node, uint32_t device, std::vector<Change>& changes) const {
  const uint32_t group = problem_.group_of(node);
  if (evaluator_.assignment()[node] == device || !problem_.allowed(group, device)) return;
  for (const uint32_t v : watched(problem_.members(group), evaluator_.stop())) {
    changes.push_back({v, device});
  }
}

void GroupMoves::shift_border(Random& random, std::vector<Change>& changes) {
  const Graph& graph = problem_.graph();
  const std::span<const uint32_t> assignment = evaluator_.assignment();
  const uint32_t anchor = draw_anchor(random), from = assignment[anchor];
  const bool down = random.below(2) == 0;
  Stop* const stop = evaluator_.stop();
  shifted_.clear();
  is_shifted_.assign(problem_.group_count(), false);
  const auto add = [&](uint32_t v) {
    const uint32_t group = problem_.group_of(v);
    if (is_shifted_[group] || assignment[v] != from) return;
    is_shifted_[group] = true;
    for (const uint32_t w : watched(problem_.members(group), stop)) shifted_.push_back(w);
  };
  add(anchor);
  for (size_t i = 0; i < shifted_.size(); ++i) {
    if (down) {
      for (const OutEdge& out : watched(graph.out_edges(shifted_[i]), stop)) add(out.target);
    } else {
      for (const InEdge& in : watched(graph.in_edges(shifted_[i]), stop)) add(in.source);
    }
    if (spend(stop, 1)) return;
  }
  const uint32_t to = draw_device(shifted_, anchor, random);
  if (to == from) return;
  for (const uint32_t v : shifted_) {
    if (problem_.members(problem_.group_of(v))[0] == v) send(v, to, changes);
  }
}

void GroupMoves::exchange_devices(Random& random, std::vector<Change>& changes) {
  const uint32_t a = evaluator_.assignment()[draw_anchor(random)];
  const uint32_t b = random.below(problem_.device_count());
  if (a == b) return;
  for (uint32_t g = 0; g < problem_.group_count(); ++g) {
    if (spend(evaluator_.stop(), 1)) return;
    const uint32_t v = problem_.members(g)[0], device = evaluator_.assignment()[v];
    if (device == a || device == b) send(v, device == a ? b : a, changes);
  }
}

void GroupMoves::disturb(Random& random, std::vector<Change>& changes) {
  changes.clear();
  const uint32_t level = random.below(hierarchy_.level_count());
  const uint32_t groups = hierarchy_.group_count(level);
  const uint32_t count = std::clamp(static_cast<uint32_t>(kDisturbed * groups), 1u, kMostDisturbed);
  uint32_t group = random.below(groups);
  for (uint32_t i = 0; i < count; ++i) {
    const uint32_t device = random.below(problem_.device_count());
    if (hierarchy_.allowed(level, group, device)) {
      for (uint32_t v : watched(hierarchy_.nodes(level, group), evaluator_.stop())) {
        changes.push_back({v, device});
      }
    }
    group = (group + 1 + random.below(std::max(1u, groups / count))) % groups;
  }
}

GroupMoves::Move GroupMoves::draw(double used, Random& random) {
  const uint32_t level = draw_level(used, random);
  const uint32_t anchor = draw_anchor(random);
  const uint32_t group = hierarchy_.group_of(level, anchor);
  return {level, group, draw_device(hierarchy_.nodes(level, group), anchor, random)};
}

bool GroupMoves::changes_something(const Move& move) const {
  if (!hierarchy_.allowed(move.level, move.group, move.device)) return false;
  const auto nodes = hierarchy_.nodes(move.level, move.group);
  return std::any_of(nodes.begin(), nodes.end(),
                     [&](uint32_t v) { return evaluator_.assignment()[v] != move.device; });
}

uint32_t GroupMoves::draw_anchor(Random& random) {
  if (random.uniform() >= kOnChain) return random.below(problem_.node_count());
  if (!problem_.is_for_latency()) return draw_busy(random);
  if (chain_is_old_) chain_.update(evaluator_);
  chain_is_old_ = false;
  return chain_.nodes()[random.below(static_cast<uint32_t>(chain_.nodes().size()))];
}

// On a device of the bottleneck, if one is met.
uint32_t GroupMoves::draw_busy(Random& random) const {
  constexpr int kTries = 20;
  const std::span<const uint32_t> busiest = evaluator_.busiest();
  uint32_t v = 0;
  for (int i = 0; i < kTries; ++i) {
    v = random.below(problem_.node_count());
    if (std::ranges::find(busiest, evaluator_.assignment()[v]) != busiest.end()) break;
  }
  return v;
}

// Coarse levels early, fine ones late, any level any time.
uint32_t GroupMoves::draw_level(double used, Random& random) const {
  const uint32_t levels = hierarchy_.level_count();
  const double focus = (1 - used) * levels;  // the level most likely now, from above
  const double spread = random.uniform() + random.uniform() - 1;  // triangular
  const double level = focus + spread * levels / 2.0;
  return level <= 0 ? 0 : std::min(levels - 1, static_cast<uint32_t>(level));
}

// The device of a neighbour of the group, or any.
uint32_t GroupMoves::draw_device(std::span<const uint32_t> nodes, uint32_t anchor,
                                 Random& random) const {
  if (random.uniform() < kToNeighbour) {
    const uint32_t v =
        random.below(4) == 0 ? anchor : nodes[random.below(static_cast<uint32_t>(nodes.size()))];
    const auto in = problem_.graph().in_edges(v);
    const auto out = problem_.graph().out_edges(v);
    const auto count = static_cast<uint32_t>(in.size() + out.size());
    if (count > 0) {
      const uint32_t pick = random.below(count);
      const uint32_t w = pick < in.size() ? in[pick].source : out[pick - in.size()].target;
      return evaluator_.assignment()[w];
    }
  }
  return random.below(problem_.device_count());
}

}  // namespace placeto
