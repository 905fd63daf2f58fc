#include "runtime/cost/priced_division.h"

#include <algorithm>

#include "runtime/base/no_index.h"

namespace placeto {

PricedDivision::PricedDivision(const Problem& problem) {
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

StagePricer::StagePricer(const Problem& problem, Stop* stop)
    : problem_(problem), stop_(stop), seen_(problem.node_count()) {
  for (const EdgeSpec& e : watched(std::span(problem.graph().spec().edges), stop)) {
    has_control_ |= e.output == kControlEdge;
  }
}

void StagePricer::price(std::span<const uint32_t> assignment, PricedDivision& priced) {
  const Graph& graph = problem_.graph();
  const Division& division = priced.division;
  const uint32_t stages = division.stage_count();
  priced.stages.assign(stages, StageRun{});
  for (uint32_t s = 0; s < stages; ++s) {
    priced.stages[s].head_us = problem_.topology().device(division.device[s]).stage_us;
  }
  for (uint32_t v : graph.topological_order()) {
    priced.stages[division.stage_of[v]].work_us += problem_.run_us(v, assignment[v]);
    if (spend(stop_, 1)) return;
  }
  priced.cuts.clear();
  priced.readers.clear();
  if (stages > 1) find_cuts(priced);
  std::fill(priced.busy_us.begin(), priced.busy_us.end(), 0);
  for (uint32_t s = 0; s < stages; ++s) {
    priced.busy_us[division.device[s]] += priced.stages[s].taken_us();
  }
}

// From the last node to the first, since a stage's chain of cuts grows at its head.
void StagePricer::find_cuts(PricedDivision& priced) {
  const Graph& graph = problem_.graph();
  const bool ranked = ranks_stages(problem_);
  std::fill_n(seen_.begin(), priced.stages.size(), kNoIndex);
  for (uint32_t v = graph.node_count(); v-- > 0;) {
    const uint32_t stage = priced.division.stage_of[v];
    for (uint32_t o = graph.output_end(v); o-- > graph.output_begin(v);) add_cut(o, stage, priced);
    if (has_control_) add_controls(v, stage, priced);
    if (ranked) {
      double& rank = priced.stages[stage].rank;
      rank = std::max(rank, problem_.upward_rank()[v]);
    }
    if (spend(stop_, 1 + graph.out_edges(v).size())) return;
  }
}

// The output is a cut if another stage than the one that makes it reads it.
void StagePricer::add_cut(uint32_t output, uint32_t stage, PricedDivision& priced) {
  const Division& division = priced.division;
  const auto first = static_cast<uint32_t>(priced.readers.size());
  for (uint32_t consumer : watched(problem_.graph().consumers(output), stop_)) {
    const uint32_t reader = division.stage_of[consumer];
    if (reader == stage || seen_[reader] == output) continue;
    seen_[reader] = output;
    priced.readers.push_back(reader);
    priced.stages[reader].head_us += price_us(division.device[reader], output);
    ++priced.stages[reader].missing;
  }
  const auto end = static_cast<uint32_t>(priced.readers.size());
  if (end == first) return;
  priced.stages[stage].tail_us += price_us(division.device[stage], output);
  lead(priced, stage, {output, first, end, kNoIndex});
}

void StagePricer::add_controls(uint32_t node, uint32_t stage, PricedDivision& priced) {
  for (const OutEdge& e : watched(problem_.graph().out_edges(node), stop_)) {
    const uint32_t reader = priced.division.stage_of[e.target];
    if (e.output != kControlEdge || reader == stage) continue;
    const auto first = static_cast<uint32_t>(priced.readers.size());
    priced.readers.push_back(reader);
    ++priced.stages[reader].missing;
    lead(priced, stage, {kControlEdge, first, first + 1, kNoIndex});
  }
}

// Makes it the first of those that leave the stage.
void StagePricer::lead(PricedDivision& priced, uint32_t stage, StageCut cut) {
  cut.next = priced.stages[stage].first_cut;
  priced.stages[stage].first_cut = static_cast<uint32_t>(priced.cuts.size());
  priced.cuts.push_back(cut);
}

// What a device pays for a cut that enters or leaves one of its stages.
double StagePricer::price_us(uint32_t device, uint32_t output) const {
  const DeviceSpec& spec = problem_.topology().device(device);
  if (spec.cut_bytes_per_us == 0) return spec.cut_us;
  return spec.cut_us +
         static_cast<double>(problem_.graph().output_bytes(output)) / spec.cut_bytes_per_us;
}

}  // namespace placeto
