// The decision: what each device costs a node. The inner loop of all passes.
#include "runtime/heuristics/earliest_finish.h"

#include <algorithm>

namespace placeto {

// Adds to penalty_[d] what a transfer between the candidate device d (kNoIndex stands for it) and a
// known device costs, for every d that differs from it.
void EarliestFinish::add_transfer(uint32_t output, uint32_t producer_device,
                                  uint32_t consumer_device, double weight) {
  const uint32_t known = producer_device == kNoIndex ? consumer_device : producer_device;
  const uint32_t devices = problem_->device_count();
  if (problem_->topology().uniform_links()) {
    const double us = weight * problem_->event_tables().uniform_transfer_us[output];
    for (uint32_t d = 0; d < devices; ++d) penalty_[d] += d == known ? 0 : us;
    return;
  }
  for (uint32_t d = 0; d < devices; ++d) {
    if (d == known) continue;
    const uint32_t from = producer_device == kNoIndex ? d : producer_device;
    const uint32_t to = consumer_device == kNoIndex ? d : consumer_device;
    penalty_[d] += weight * problem_->transfer_us(output, from, to);
  }
}

// Where the node is, or was in the last timeline.
uint32_t EarliestFinish::known_device(uint32_t node, const LastPlacement& last) const {
  const uint32_t device = devices_[problem_->group_of(node)];
  if (device != kNoIndex) return device;
  return last.assignment.empty() ? kNoIndex : last.assignment[node];
}

// Transfers to `node` from those of its sources outside the group whose device is known.
void EarliestFinish::add_sources(uint32_t node, uint32_t group, const LastPlacement& last) {
  const uint32_t devices = problem_->device_count();
  for (const InEdge& in : watched(problem_->graph().in_edges(node), stop_, devices)) {
    if (in.output == kControlEdge || problem_->group_of(in.source) == group) continue;
    const uint32_t device = known_device(in.source, last);
    if (device != kNoIndex) add_transfer(in.output, device, kNoIndex, 1);
  }
}

// Transfers from it, likewise.
void EarliestFinish::add_targets(uint32_t node, uint32_t group, double weight,
                                 const LastPlacement& last) {
  const uint32_t devices = problem_->device_count();
  for (const OutEdge& out : watched(problem_->graph().out_edges(node), stop_, devices)) {
    if (out.output == kControlEdge || problem_->group_of(out.target) == group) continue;
    const uint32_t device = known_device(out.target, last);
    if (device != kNoIndex) add_transfer(out.output, kNoIndex, device, weight);
  }
}

// The consumers of a node, where they were.
void EarliestFinish::find_readers(uint32_t node, const LastPlacement& last) {
  const bool uniform = problem_->topology().uniform_links();
  readers_.clear();
  for (const OutEdge& out : watched(problem_->graph().out_edges(node), stop_)) {
    const bool moves = out.output != kControlEdge;
    const double us =
        uniform && moves ? problem_->event_tables().uniform_transfer_us[out.output] : 0;
    readers_.push_back({known_device(out.target, last), uniform ? kControlEdge : out.output, us,
                        last.latest_start_us[out.target]});
  }
}

// By how much they would start later than they can. Finishing there is late enough for a node
// without consumers.
double EarliestFinish::lateness_us(uint32_t device, double finish_us) const {
  if (readers_.empty()) return finish_us;
  double latest = -kNever;
  for (const Reader& reader : watched(readers_, stop_)) {
    double transfer = reader.device == device ? 0 : reader.transfer_us;
    if (reader.output != kControlEdge) {
      transfer = problem_->transfer_us(reader.output, device, reader.device);
    }
    latest = std::max(latest, finish_us + transfer - reader.latest_start_us);
  }
  return latest;
}

uint32_t EarliestFinish::choose(uint32_t met, const LastPlacement& last, const PassRule& rule,
                                const MemoryPlan& plan) {
  const uint32_t node = last.assignment.empty() ? devices_.heaviest_beside(met) : met;
  const uint32_t group = problem_->group_of(node);
  schedule_.ready_times(node, ready_);
  std::fill(penalty_.begin(), penalty_.end(), 0);
  const bool alone = problem_->members(group).size() == 1;
  // Where a whole group moves only transfers tell: its members finish at different times.
  const bool by_lateness =
      rule.kind == PassRule::Kind::kLateness && alone && !last.assignment.empty();
  if (rule.kind != PassRule::Kind::kFinish && !by_lateness) {
    add_targets(node, group, std::min(rule.weight, 1.0), last);
  }
  for (uint32_t member : problem_->members(group)) {
    // The other members run later, wherever this one goes: what differs between devices is how fast
    // they run there and what they exchange with the rest of the graph.
    if (member == node) continue;
    add_sources(member, group, last);
    add_targets(member, group, 1, last);
    spend(stop_, problem_->graph().in_edges(member).size() + problem_->device_count());
    for (uint32_t d = 0; d < problem_->device_count(); ++d) {
      penalty_[d] += problem_->run_us(member, d);
    }
  }
  if (by_lateness) find_readers(node, last);
  const double bytes = devices_.footprint(group, plan);
  const double* run_us = problem_->run_row(node);
  uint32_t best = kNoIndex;
  double best_us = 0;
  for (uint32_t d = 0; d < problem_->device_count(); ++d) {
    if (!problem_->allowed(group, d) || !plan.has_room(bytes, d)) continue;
    const double start = std::max(ready_[d], schedule_.device_free_us(d));
    const double finish = start + run_us[problem_->class_of(d)];
    const double us =
        by_lateness ? lateness_us(d, finish) + rule.weight * finish : finish + penalty_[d];
    if (best == kNoIndex || us < best_us) {
      best = d;
      best_us = us;
    }
  }
  return best != kNoIndex ? best : roomiest(group, plan);
}

uint32_t EarliestFinish::roomiest(uint32_t group, const MemoryPlan& plan) const {
  uint32_t roomiest = kNoIndex;
  for (uint32_t d = 0; d < problem_->device_count(); ++d) {
    if (!problem_->allowed(group, d)) continue;
    if (roomiest == kNoIndex || plan.room(d) > plan.room(roomiest)) roomiest = d;
  }
  return roomiest;
}

}  // namespace placeto
