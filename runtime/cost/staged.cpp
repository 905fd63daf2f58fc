#include "runtime/cost/staged.h"

#include <algorithm>
#include <utility>

namespace placeto {

StageTables::StageTables(const Problem& problem, Stop* stop)
    : order_(problem.graph().topological_order()) {
  const Graph& graph = problem.graph();
  begin_.reserve(size_t{graph.node_count()} + 1);
  begin_.push_back(0);
  target_.reserve(graph.edge_count());
  for (uint32_t v = 0; v < graph.node_count(); ++v) {
    for (const OutEdge& e : watched(graph.out_edges(v), stop)) target_.push_back(e.target);
    if (spend(stop, 1 + graph.out_edges(v).size())) {  // who indexes it finds nothing to read
      begin_.assign(size_t{graph.node_count()} + 1, 0);
      target_.clear();
      return;
    }
    begin_.push_back(static_cast<uint32_t>(target_.size()));
  }
}

StagedSimulator::StagedSimulator(const Problem& problem, Stop* stop)
    : problem_(&problem),
      stop_(stop),
      tables_(problem, stop),
      former_(tables_.graph(), problem.device_count(), stop),
      pricer_(problem, stop),
      engine_(problem, stop),
      bottleneck_(problem),
      divided_{{PricedDivision(problem, stop), StagedRun(problem)},
               {PricedDivision(problem, stop), StagedRun(problem)},
               {PricedDivision(problem, stop), StagedRun(problem)}} {
  const uint32_t nodes = problem.node_count();
  for (Divided& divided : divided_) {
    divided.channel_busy_us.resize(problem.topology().channel_count());
  }
  assignment_.reserve(nodes);
  next_.reserve(nodes);
  times_.start_us.resize(nodes);
  times_.finish_us.resize(nodes);
  times_.done_us.reserve(nodes);
  spend(stop, nodes);  // memory touched for the first time is slow
}

double StagedSimulator::run(std::span<const uint32_t> assignment, double cutoff_us) {
  assignment_.assign(assignment.begin(), assignment.end());
  times_.filled = false;
  kept_ = &divided_[0];
  double best = kNever;
  for (size_t i = 0; i < std::size(kStageRules); ++i) {
    Divided& divided = divided_[i];
    Division& division = divided.priced.division;
    if (!former_.form(assignment, kStageRules[i], division, stop_)) return kNever;
    const double objective = evaluate(assignment, std::min(cutoff_us, best), divided);
    if (stopped(stop_)) return kNever;
    if (i == 0 || objective < best) {
      best = objective;
      kept_ = &divided;
    }
    if (division.stage_count() <= 1) break;  // so is every other
  }
  return kept_->run.makespan_us;
}

bool StagedSimulator::run_by(StageRule rule, std::span<const uint32_t> assignment) {
  assignment_.assign(assignment.begin(), assignment.end());
  times_.filled = false;
  kept_ = &divided_[0];
  if (!former_.form(assignment, rule, kept_->priced.division, stop_)) return false;
  evaluate(assignment, kNever, *kept_);
  return !stopped(stop_);
}

double StagedSimulator::run(std::span<const uint32_t> assignment, const Division& division,
                            double cutoff_us) {
  assignment_.assign(assignment.begin(), assignment.end());
  times_.filled = false;
  kept_ = &divided_[0];
  kept_->priced.division = division;
  evaluate(assignment, cutoff_us, *kept_);
  return stopped(stop_) ? kNever : kept_->run.makespan_us;
}

// Returns the objective.
double StagedSimulator::evaluate(std::span<const uint32_t> assignment, double cutoff_us,
                                 Divided& divided) {
  pricer_.price(assignment, divided.priced);
  const bool latency = problem_->is_for_latency();
  divided.objective_us =
      engine_.run(assignment, latency ? cutoff_us : kNever, divided.priced, divided.run);
  if (!latency && !stopped(stop_)) {
    divided.objective_us =
        bottleneck_.find(assignment, divided.priced.busy_us, divided.channel_busy_us, stop_);
  }
  return divided.objective_us;
}

// Nodes run back to back behind what enters. The sums are those of StageRun::taken_us, so the last
// node of a stage that nothing leaves finishes when the stage ends, to the bit.
const StagedSimulator::Times& StagedSimulator::times() {
  if (times_.filled || stopped(stop_)) return times_;  // a run that was stopped left no stages
  times_.filled = true;
  const PricedDivision& priced = kept_->priced;
  times_.done_us.assign(priced.stages.size(), 0);
  for (uint32_t v : problem_->graph().topological_order()) {
    const uint32_t s = priced.division.stage_of[v];
    const StageRun& stage = priced.stages[s];
    times_.start_us[v] = stage.start_us + (stage.head_us + times_.done_us[s]);
    times_.done_us[s] += problem_->run_us(v, assignment_[v]);
    times_.finish_us[v] = stage.start_us + (stage.head_us + times_.done_us[s]);
    if (spend(stop_, 1)) break;
  }
  return times_;
}

// Stage after stage, as they start.
void StagedSimulator::order_nodes(std::vector<uint32_t>& order) {
  const Division& division = kept_->priced.division;
  next_.assign(division.stage_count(), 0);
  for (const uint32_t s : watched(division.stage_of, stop_)) ++next_[s];
  uint32_t begin = 0;
  for (const uint32_t s : watched(kept_->run.started, stop_)) {
    begin += std::exchange(next_[s], begin);
  }
  if (spend(stop_, Stop::looked_up(division.stage_of.size()))) return;
  for (const uint32_t v : problem_->graph().topological_order()) {
    order[next_[division.stage_of[v]]++] = v;
    if (spend(stop_, 1)) return;
  }
}

void StagedSimulator::describe(Timeline& timeline) {
  timeline.makespan_us = kept_->run.makespan_us;
  timeline.drain_us = kept_->run.drain_us;
  const Times& times = this->times();
  std::copy(times.start_us.begin(), times.start_us.end(), timeline.start_us.begin());
  std::copy(times.finish_us.begin(), times.finish_us.end(), timeline.finish_us.begin());
  order_nodes(timeline.order);
  const uint64_t copied = Stop::copied(problem_->node_count());
  if (spend(stop_, 2 * copied)) return;
  timeline.transfers.swap(kept_->run.transfers);
  timeline.stage_of.assign(kept_->priced.division.stage_of.begin(),
                           kept_->priced.division.stage_of.end());
  timeline.stage_order.assign(kept_->run.started.begin(), kept_->run.started.end());
  timeline.stages.clear();
  if (spend(stop_, copied)) return;
  timeline.stages.reserve(kept_->priced.stages.size());
  in_pieces(0, kept_->priced.division.stage_count(), stop_, [&](uint32_t s) {
    const StageRun& stage = kept_->priced.stages[s];
    timeline.stages.push_back({kept_->priced.division.device[s], stage.start_us, stage.end_us});
  });
  timeline.device_busy_us = kept_->priced.busy_us;
  timeline.channel_busy_us = kept_->channel_busy_us;
}

}  // namespace placeto
