// Passes: the decision for one node after the other.
#include <algorithm>
#include <limits>

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
      free_nodes_(problem, stop),
      group_device_(problem.group_count()),
      ready_(problem.device_count()),
      penalty_(problem.device_count()) {}

Assignment EarliestFinish::place_all(std::span<const uint32_t> order, const LastTimeline& last,
                                     const PassRule& rule, MemoryPlan& plan) {
  schedule_.clear();
  std::fill(group_device_.begin(), group_device_.end(), ListSchedule::kNowhere);
  for (uint32_t v : order) {
    if (spend(stop_, work_of(v))) return {};
    if (free_nodes_.contains(v)) continue;
    const uint32_t group = problem_->group_of(v);
    uint32_t& device = group_device_[group];
    if (device == ListSchedule::kNowhere) {
      device = choose(v, last, rule, plan);
      plan.take(group, device);
    }
    schedule_.place(v, device);
    free_nodes_.follow(v, group_device_, schedule_, plan);
  }
  free_nodes_.place_rest(group_device_, schedule_, plan);
  return Assignment(schedule_.assignment().begin(), schedule_.assignment().end());
}

void EarliestFinish::load(std::span<const uint32_t> order, const LastTimeline& last,
                          std::span<const double> start_us, std::span<const double> finish_us,
                          MemoryPlan& plan) {
  last_ = last;
  plan_ = &plan;
  schedule_.load(order, last.assignment, start_us, finish_us);
  group_device_.assign(problem_->group_count(), ListSchedule::kNowhere);
  first_.assign(problem_->group_count(), ListSchedule::kNowhere);
  plan.clear();
  for (uint32_t position = 0; position < order.size(); ++position) {
    if (spend(stop_, 1)) return;
    const uint32_t group = problem_->group_of(order[position]);
    if (first_[group] != ListSchedule::kNowhere) continue;
    first_[group] = position;
    plan.take(group, last.assignment[order[position]]);
  }
}

double EarliestFinish::place_window(Window window, const PassRule& rule, Keep keep,
                                    std::vector<Change>& changes) {
  changes.clear();
  within_.clear();
  schedule_.open(window);
  double least_us = std::numeric_limits<double>::infinity();
  size_t kept = 0;   // of within_, in the part that is least late
  size_t moved = 0;  // since the last look
  uint32_t look = keep == Keep::kAll ? window.end : window.begin + tuning::kFirstLook;
  for (uint32_t position = window.begin; position < window.end; ++position) {
    const uint32_t v = schedule_.node_at(position), there = last_.assignment[v];
    const uint32_t group = problem_->group_of(v);
    if (spend(stop_, work_of(v))) return 0;
    uint32_t& device = group_device_[group];
    if (device == ListSchedule::kNowhere) {
      within_.push_back(group);
      plan_->leave(group, there);
      device = first_[group] < window.begin ? there : choose(v, last_, rule, *plan_);
      plan_->take(group, device);
    }
    schedule_.place(v, device);
    if (device != there) ++moved;
    const uint32_t end = position + 1;
    if (end != look && end != window.end) continue;
    look = end + (end - window.begin) / 2;
    if (moved == 0) continue;
    moved = 0;
    const double late_us = schedule_.lateness_behind_us(end, group_device_);
    if (late_us >= least_us) continue;
    least_us = late_us;
    kept = within_.size();
  }
  schedule_.close();
  if (stopped(stop_)) return 0;
  for (size_t i = 0; i < within_.size(); ++i) {
    const uint32_t group = within_[i];
    uint32_t& device = group_device_[group];
    const auto members = problem_->members(group);
    const uint32_t there = last_.assignment[members[0]];
    plan_->leave(group, device);
    plan_->take(group, there);
    if (i < kept && device != there) {
      for (uint32_t v : members) changes.push_back({v, device});
      spend(stop_, Stop::looked_up(members.size()));
    }
    device = ListSchedule::kNowhere;
  }
  return least_us;
}

// For Stop::spend.
uint64_t EarliestFinish::work_of(uint32_t node) const {
  const Graph& graph = problem_->graph();
  return 2 + graph.in_edges(node).size() + graph.out_edges(node).size() +
         Stop::compared(problem_->device_count());
}

}  // namespace placeto
