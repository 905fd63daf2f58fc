// Passes: the decision for one node after the other.
#include <algorithm>

#include "runtime/heuristics/earliest_finish.h"
#include "runtime/heuristics/tuning.h"

namespace placeto {

PassRule PassRule::draw(Random& random) {
  using namespace tuning;  // NOLINT
  const double kind = random.uniform(), weight = random.uniform();
  if (kind < kFinishShare) return {};
  if (kind < kFinishShare + kTransfersShare) return {Kind::kTransfers, weight};
  return {Kind::kLateness, kLeastFinishWeight + kFinishWeights * weight};
}

EarliestFinish::EarliestFinish(const Problem& problem, Stop* stop)
    : problem_(&problem),
      stop_(stop),
      schedule_(problem, stop),
      devices_(problem, stop),
      ready_(problem.device_count()),
      penalty_(problem.device_count()) {}

Assignment EarliestFinish::place_all(std::span<const uint32_t> order, const LastPlacement& last,
                                     const PassRule& rule, MemoryPlan& plan) {
  schedule_.clear();
  devices_.clear();
  for (uint32_t v : order) {
    if (spend(stop_, work_of(v))) return {};
    if (devices_.free_nodes().contains(v)) continue;
    const uint32_t group = problem_->group_of(v);
    if (devices_[group] == kNoIndex) {
      devices_.give(group, choose(v, last, rule, plan), schedule_, plan);
    }
    schedule_.place(v, devices_[group]);
  }
  return Assignment(schedule_.assignment().begin(), schedule_.assignment().end());
}

void EarliestFinish::load(const Queues& run, const LastPlacement& last, MemoryPlan& plan) {
  last_ = last;
  plan_ = &plan;
  schedule_.load(run);
  devices_.clear();
  first_.assign(problem_->group_count(), kNoIndex);
  plan.clear();
  for (uint32_t position = 0; position < problem_->node_count(); ++position) {
    if (spend(stop_, 1)) return;
    const uint32_t v = run.node_at(position), group = problem_->group_of(v);
    if (problem_->members(group)[0] == v) plan.take(group, last.assignment[v]);
    if (devices_.free_nodes().contains(v)) continue;
    first_[group] = std::min(first_[group], position);
  }
}

double EarliestFinish::place_window(Window window, const PassRule& rule, Keep keep,
                                    std::vector<Change>& changes, double too_late_us) {
  changes.clear();
  within_.clear();
  schedule_.open(window);
  double least_us = too_late_us;
  size_t kept = 0;   // of within_, in the part that is least late
  size_t moved = 0;  // since the last look
  uint32_t look = keep == Keep::kAll ? window.end : window.begin + tuning::kFirstLook;
  for (uint32_t position = window.begin; position < window.end; ++position) {
    const uint32_t v = schedule_.run().node_at(position), there = last_.assignment[v];
    if (spend(stop_, work_of(v))) return 0;
    uint32_t device = devices_[problem_->group_of(v)];
    if (devices_.free_nodes().contains(v)) {
      schedule_.place_free(v, device == kNoIndex ? there : device);
    } else {
      if (device == kNoIndex) device = decide_in_window(v, window, rule);
      schedule_.place(v, device);
      if (keep == Keep::kLeastLate && schedule_.is_late(v, least_us)) break;
    }
    if (device != kNoIndex && device != there) ++moved;
    const uint32_t end = position + 1;
    if (end != look && end != window.end) continue;
    look = end + (end - window.begin) / 2;
    if (moved == 0) continue;
    moved = 0;
    const double late_us = schedule_.lateness_behind_us(end, devices_.all(), least_us);
    if (late_us >= least_us) continue;
    least_us = late_us;
    kept = within_.size();
  }
  schedule_.close();
  if (stopped(stop_)) return 0;
  for (size_t i = 0; i < within_.size(); ++i) {
    const uint32_t group = within_[i];
    uint32_t& device = devices_[group];
    const auto members = problem_->members(group);
    const uint32_t there = last_.assignment[members[0]];
    plan_->leave(group, device);
    plan_->take(group, there);
    if (i < kept && device != there) {
      for (uint32_t v : members) changes.push_back({v, device});
      spend(stop_, Stop::looked_up(members.size()));
    }
    device = kNoIndex;
  }
  return least_us;
}

// Where the node's group goes, and with it what follows it and is where it was.
uint32_t EarliestFinish::decide_in_window(uint32_t node, Window window, const PassRule& rule) {
  const uint32_t group = problem_->group_of(node), there = last_.assignment[node];
  const size_t first = within_.size();
  within_.push_back(group);
  for (const uint32_t follower : devices_.free_nodes().followers(group)) {
    if (last_.assignment[problem_->members(follower)[0]] == there) within_.push_back(follower);
  }
  for (size_t i = first; i < within_.size(); ++i) plan_->leave(within_[i], there);
  const uint32_t device = first_[group] < window.begin ? there : choose(node, last_, rule, *plan_);
  for (size_t i = first; i < within_.size(); ++i) {
    const uint32_t moving = within_[i];
    devices_[moving] = problem_->allowed(moving, device) ? device : there;
    plan_->take(moving, devices_[moving]);
    if (devices_[moving] == there) continue;
    devices_.free_nodes().each_free_member(
        moving, [&](uint32_t v) { schedule_.carry(v, devices_[moving]); });
  }
  spend(stop_, within_.size() - first);
  return device;
}

// For Stop::spend.
uint64_t EarliestFinish::work_of(uint32_t node) const {
  const Graph& graph = problem_->graph();
  return 2 + graph.in_edges(node).size() + graph.out_edges(node).size() +
         Stop::compared(problem_->device_count());
}

}  // namespace placeto
