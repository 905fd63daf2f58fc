#include "runtime/heuristics/earliest_finish.h"

#include <algorithm>
#include <limits>

namespace placeto {

PassRule PassRule::draw(Random& random) {
  constexpr double kFinishShare = 0.25, kTransfersShare = 0.4;  // the rest is lateness
  const double kind = random.uniform(), weight = random.uniform();
  if (kind < kFinishShare) return {};
  if (kind < kFinishShare + kTransfersShare) return {Kind::kTransfers, weight};
  return {Kind::kLateness, 0.3 + 1.5 * weight};
}

void find_latest_starts(const Problem& problem, std::span<const uint32_t> assignment,
                        std::span<const uint32_t> order, std::span<const double> start_us,
                        std::span<const double> finish_us, std::vector<double>& latest_start_us,
                        Stop* stop) {
  const double makespan = *std::max_element(finish_us.begin(), finish_us.end());
  latest_start_us.resize(problem.node_count());
  for (auto v = order.rbegin(); v != order.rend(); ++v) {
    const auto consumers = problem.graph().out_edges(*v);
    if (spend(stop, 1 + consumers.size())) return;
    double latest = makespan;
    for (const OutEdge& out : consumers) {
      double start_by = latest_start_us[out.target];
      if (out.output != kControlEdge) {
        start_by -= problem.transfer_us(out.output, assignment[*v], assignment[out.target]);
      }
      latest = std::min(latest, start_by);
    }
    latest_start_us[*v] = latest - (finish_us[*v] - start_us[*v]);
  }
}

EarliestFinish::EarliestFinish(const Problem& problem, Stop* stop)
    : problem_(&problem),
      stop_(stop),
      schedule_(problem, stop),
      group_device_(problem.group_count()),
      ready_(problem.device_count()),
      penalty_(problem.device_count()) {}

// Adds to penalty_[d] what a transfer between the candidate device d (kNowhere stands for it) and a
// known device costs, for every d that differs from it.
void EarliestFinish::add_transfer(uint32_t output, uint32_t producer_device,
                                  uint32_t consumer_device, double weight) {
  const uint32_t known =
      producer_device == ListSchedule::kNowhere ? consumer_device : producer_device;
  for (uint32_t d = 0; d < problem_->device_count(); ++d) {
    if (d == known) continue;
    const uint32_t from = producer_device == ListSchedule::kNowhere ? d : producer_device;
    const uint32_t to = consumer_device == ListSchedule::kNowhere ? d : consumer_device;
    penalty_[d] += weight * problem_->transfer_us(output, from, to);
  }
}

// Where the node is, or was in the last timeline.
uint32_t EarliestFinish::known_device(uint32_t node, const LastTimeline& last) const {
  const uint32_t device = group_device_[problem_->group_of(node)];
  if (device != ListSchedule::kNowhere) return device;
  return last.assignment.empty() ? ListSchedule::kNowhere : last.assignment[node];
}

// Transfers between `node` and those of its neighbours outside the group whose device is known.
void EarliestFinish::add_neighbours(uint32_t node, uint32_t group, bool sources, double weight,
                                    const LastTimeline& last) {
  const Graph& graph = problem_->graph();
  for (const InEdge& in : graph.in_edges(node)) {
    if (!sources || in.output == kControlEdge || problem_->group_of(in.source) == group) continue;
    const uint32_t device = known_device(in.source, last);
    if (device != ListSchedule::kNowhere) {
      add_transfer(in.output, device, ListSchedule::kNowhere, weight);
    }
  }
  for (const OutEdge& out : graph.out_edges(node)) {
    if (out.output == kControlEdge || problem_->group_of(out.target) == group) continue;
    const uint32_t device = known_device(out.target, last);
    if (device != ListSchedule::kNowhere) {
      add_transfer(out.output, ListSchedule::kNowhere, device, weight);
    }
  }
}

// By how much its consumers, where they were, would start later than they can. Finishing there is
// late enough for a node without consumers.
double EarliestFinish::lateness_us(uint32_t node, uint32_t device, double finish_us,
                                   const LastTimeline& last) const {
  const auto consumers = problem_->graph().out_edges(node);
  if (consumers.empty()) return finish_us;
  double latest = -std::numeric_limits<double>::infinity();
  for (const OutEdge& out : consumers) {
    const uint32_t there = known_device(out.target, last);
    const bool moves = out.output != kControlEdge && there != device;
    const double transfer = moves ? problem_->transfer_us(out.output, device, there) : 0;
    latest = std::max(latest, finish_us + transfer - last.latest_start_us[out.target]);
  }
  return latest;
}

uint32_t EarliestFinish::choose(uint32_t node, const LastTimeline& last, const PassRule& rule,
                                const MemoryPlan& plan) {
  const uint32_t group = problem_->group_of(node);
  schedule_.ready_times(node, ready_);
  std::fill(penalty_.begin(), penalty_.end(), 0);
  const bool alone = problem_->members(group).size() == 1;
  // Of a whole group only transfers tell: its members finish at different times.
  const bool by_lateness =
      rule.kind == PassRule::Kind::kLateness && alone && !last.assignment.empty();
  if (rule.kind != PassRule::Kind::kFinish && !by_lateness) {
    add_neighbours(node, group, false, std::min(rule.weight, 1.0), last);
  }
  for (uint32_t member : problem_->members(group)) {
    // The other members run later, wherever this one goes: what differs between devices is how fast
    // they run there and what they exchange with the rest of the graph.
    if (member == node) continue;
    add_neighbours(member, group, true, 1, last);
    spend(stop_, problem_->graph().in_edges(member).size() + problem_->device_count());
    for (uint32_t d = 0; d < problem_->device_count(); ++d) {
      penalty_[d] += problem_->run_us(member, d);
    }
  }
  uint32_t best = ListSchedule::kNowhere, roomiest = ListSchedule::kNowhere;
  double best_us = 0;
  for (uint32_t d = 0; d < problem_->device_count(); ++d) {
    if (!problem_->allowed(group, d)) continue;
    if (roomiest == ListSchedule::kNowhere || plan.room(d) > plan.room(roomiest)) roomiest = d;
    if (!plan.fits(group, d)) continue;
    const double start = std::max(ready_[d], schedule_.device_free_us(d));
    const double finish = start + problem_->run_us(node, d);
    const double us = by_lateness ? lateness_us(node, d, finish, last) + rule.weight * finish
                                  : finish + penalty_[d];
    if (best == ListSchedule::kNowhere || us < best_us) {
      best = d;
      best_us = us;
    }
  }
  return best != ListSchedule::kNowhere ? best : roomiest;
}

// `plan_is_full`: it holds every group where `last` has it. False once stopped.
bool EarliestFinish::place(std::span<const uint32_t> order, Window window, const LastTimeline& last,
                           const PassRule& rule, MemoryPlan& plan, bool plan_is_full) {
  schedule_.clear();
  std::fill(group_device_.begin(), group_device_.end(), ListSchedule::kNowhere);
  const Graph& graph = problem_->graph();
  for (uint32_t position = 0; position < window.end; ++position) {
    const uint32_t v = order[position], group = problem_->group_of(v);
    const size_t edges = graph.in_edges(v).size() + graph.out_edges(v).size();
    if (spend(stop_, 2 + edges + problem_->device_count() / 8)) return false;
    uint32_t& device = group_device_[group];
    if (device == ListSchedule::kNowhere && position < window.begin) {
      device = last.assignment[v];
    } else if (device == ListSchedule::kNowhere) {
      if (plan_is_full) plan.leave(group, last.assignment[v]);
      device = choose(v, last, rule, plan);
      plan.take(group, device);
    }
    schedule_.place(v, device);
  }
  return true;
}

Assignment EarliestFinish::place_all(std::span<const uint32_t> order, const LastTimeline& last,
                                     const PassRule& rule, MemoryPlan& plan) {
  if (!place(order, {0, problem_->node_count()}, last, rule, plan, false)) return {};
  return Assignment(schedule_.assignment().begin(), schedule_.assignment().end());
}

void EarliestFinish::place_window(std::span<const uint32_t> order, Window window,
                                  const LastTimeline& last, const PassRule& rule, MemoryPlan& plan,
                                  std::vector<Change>& changes) {
  changes.clear();
  plan.clear();
  if (problem_->memory_limited()) {
    for (uint32_t g = 0; g < problem_->group_count(); ++g) {
      plan.take(g, last.assignment[problem_->members(g)[0]]);
      if (spend(stop_, 1)) return;
    }
  }
  if (!place(order, window, last, rule, plan, true)) return;
  if (spend(stop_, problem_->node_count() / 16)) return;  // compared, not gone through
  for (uint32_t v = 0; v < problem_->node_count(); ++v) {
    const uint32_t device = group_device_[problem_->group_of(v)];
    if (device != ListSchedule::kNowhere && device != last.assignment[v]) {
      changes.push_back({v, device});
    }
  }
}

}  // namespace placeto
