#include "runtime/cost/stage_plan.h"

#include <algorithm>

#include "runtime/base/no_index.h"

namespace placeto {

StagePlan::StagePlan(const Problem& problem) {
  const uint32_t nodes = problem.node_count();
  const size_t edges = problem.graph().edge_count();
  division.stage_of.reserve(nodes);
  division.device.reserve(nodes);
  division.order.reserve(nodes);
  stages.reserve(nodes);
  cuts.reserve(size_t{problem.graph().output_count()} + edges);
  readers.reserve(edges);
  busy_us.resize(problem.device_count());
}

bool ranks_stages(const Problem& problem) {
  return problem.topology().spec().dispatch == Dispatch::kPriority;
}

StagePlanner::StagePlanner(const Problem& problem, Stop* stop)
    : problem_(problem), stop_(stop), seen_(problem.node_count()) {
  for (const EdgeSpec& e : watched(std::span(problem.graph().spec().edges), stop)) {
    has_control_ |= e.output == kControlEdge;
  }
}

void StagePlanner::plan(std::span<const uint32_t> assignment, StagePlan& plan) {
  const Graph& graph = problem_.graph();
  const Division& division = plan.division;
  const uint32_t stages = division.stage_count();
  plan.stages.assign(stages, StageRun{});
  for (uint32_t s = 0; s < stages; ++s) {
    plan.stages[s].head_us = problem_.topology().device(division.device[s]).stage_us;
  }
  for (uint32_t v : graph.topological_order()) {
    plan.stages[division.stage_of[v]].work_us += problem_.run_us(v, assignment[v]);
    if (spend(stop_, 1)) return;
  }
  plan.cuts.clear();
  plan.readers.clear();
  if (stages > 1) find_cuts(plan);
  std::fill(plan.busy_us.begin(), plan.busy_us.end(), 0);
  for (uint32_t s = 0; s < stages; ++s) {
    plan.busy_us[division.device[s]] += plan.stages[s].taken_us();
  }
}

// From the last node to the first, since a stage's chain of cuts grows at its head.
void StagePlanner::find_cuts(StagePlan& plan) {
  const Graph& graph = problem_.graph();
  const bool ranked = ranks_stages(problem_);
  std::fill_n(seen_.begin(), plan.stages.size(), kNoIndex);
  for (uint32_t v = graph.node_count(); v-- > 0;) {
    const uint32_t stage = plan.division.stage_of[v];
    for (uint32_t o = graph.output_end(v); o-- > graph.output_begin(v);) add_cut(o, stage, plan);
    if (has_control_) add_controls(v, stage, plan);
    if (ranked) {
      double& rank = plan.stages[stage].rank;
      rank = std::max(rank, problem_.upward_rank()[v]);
    }
    if (spend(stop_, 1 + graph.out_edges(v).size())) return;
  }
}

// The output is a cut if another stage than the one that makes it reads it.
void StagePlanner::add_cut(uint32_t output, uint32_t stage, StagePlan& plan) {
  const Division& division = plan.division;
  const auto first = static_cast<uint32_t>(plan.readers.size());
  for (uint32_t consumer : watched(problem_.graph().consumers(output), stop_)) {
    const uint32_t reader = division.stage_of[consumer];
    if (reader == stage || seen_[reader] == output) continue;
    seen_[reader] = output;
    plan.readers.push_back(reader);
    plan.stages[reader].head_us += price_us(division.device[reader], output);
    ++plan.stages[reader].missing;
  }
  const auto end = static_cast<uint32_t>(plan.readers.size());
  if (end == first) return;
  plan.stages[stage].tail_us += price_us(division.device[stage], output);
  lead(plan, stage, {output, first, end, kNoIndex});
}

void StagePlanner::add_controls(uint32_t node, uint32_t stage, StagePlan& plan) {
  for (const OutEdge& e : watched(problem_.graph().out_edges(node), stop_)) {
    const uint32_t reader = plan.division.stage_of[e.target];
    if (e.output != kControlEdge || reader == stage) continue;
    const auto first = static_cast<uint32_t>(plan.readers.size());
    plan.readers.push_back(reader);
    ++plan.stages[reader].missing;
    lead(plan, stage, {kControlEdge, first, first + 1, kNoIndex});
  }
}

// Makes it the first of those that leave the stage.
void StagePlanner::lead(StagePlan& plan, uint32_t stage, StageCut cut) {
  cut.next = plan.stages[stage].first_cut;
  plan.stages[stage].first_cut = static_cast<uint32_t>(plan.cuts.size());
  plan.cuts.push_back(cut);
}

// What a device pays for a cut that enters or leaves one of its stages.
double StagePlanner::price_us(uint32_t device, uint32_t output) const {
  const DeviceSpec& spec = problem_.topology().device(device);
  if (spec.cut_bytes_per_us == 0) return spec.cut_us;
  return spec.cut_us +
         static_cast<double>(problem_.graph().output_bytes(output)) / spec.cut_bytes_per_us;
}

}  // namespace placeto
