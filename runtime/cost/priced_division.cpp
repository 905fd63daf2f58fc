#include "runtime/cost/priced_division.h"

#include <algorithm>

#include "runtime/base/no_index.h"

namespace placeto {

// Once for each simulator: small rather than fast.
[[gnu::cold]] PricedDivision::PricedDivision(const Problem& problem, Stop* stop) {
  const uint32_t nodes = problem.node_count();
  const size_t edges = problem.graph().edge_count();
  division.stage_of.reserve(nodes);
  division.device.reserve(nodes);
  division.order.reserve(nodes);
  stages.reserve(nodes);
  cuts.reserve(size_t{problem.graph().output_count()} + edges);
  assign(readers, edges, uint32_t{0}, stop);
  busy_us.resize(problem.device_count());
}

bool ranks_stages(const Problem& problem) {
  return problem.topology().spec().dispatch == Dispatch::kPriority;
}

double cut_price_us(const Problem& problem, uint32_t device, uint32_t output) {
  const DeviceSpec& spec = problem.topology().device(device);
  if (spec.cut_bytes_per_us == 0) return spec.cut_us;
  return spec.cut_us +
         static_cast<double>(problem.graph().output_bytes(output)) / spec.cut_bytes_per_us;
}

StagePricer::StagePricer(const Problem& problem, Stop* stop)
    : problem_(problem), stop_(stop), seen_(problem.node_count()) {
  const auto devices = std::span(problem.topology().spec().devices);
  for (const DeviceSpec& device : devices) {
    const auto same = [&](const DeviceSpec& other) {
      return other.cut_us == device.cut_us && other.cut_bytes_per_us == device.cut_bytes_per_us;
    };
    const auto first = std::find_if(devices.begin(), devices.end(), same);
    same_price_.push_back(static_cast<uint32_t>(first - devices.begin()));
  }
  for (const EdgeSpec& e : watched(std::span(problem.graph().spec().edges), stop)) {
    has_control_ |= e.output == kControlEdge;
  }
}

void StagePricer::price(std::span<const uint32_t> assignment, PricedDivision& priced) {
  const Graph& graph = problem_.graph();
  const Division& division = priced.division;
  const uint32_t stages = division.stage_count();
  if (assign(priced.stages, stages, StageRun{}, stop_)) return;
  for (uint32_t s = 0; s < stages; ++s) {
    priced.stages[s].head_us = problem_.topology().device(division.device[s]).stage_us;
  }
  if (spend(stop_, stages)) return;
  StageRun* const runs = priced.stages.data();
  const uint32_t* const stage_of = division.stage_of.data();
  for (const uint32_t v : watched(graph.topological_order(), stop_)) {
    runs[stage_of[v]].work_us += problem_.run_us(v, assignment[v]);
  }
  if (spend(stop_, graph.node_count())) return;
  priced.cuts.clear();
  if (stages > 1) find_cuts(priced);
  std::fill(priced.busy_us.begin(), priced.busy_us.end(), 0);
  for (uint32_t s = 0; s < stages; ++s) {
    priced.busy_us[division.device[s]] += priced.stages[s].taken_us();
  }
  spend(stop_, stages);
}

// From the last node to the first, since a stage's chain of cuts grows at its head.
void StagePricer::find_cuts(PricedDivision& priced) {
  const Graph& graph = problem_.graph();
  const bool ranked = ranks_stages(problem_);
  std::fill_n(seen_.begin(), priced.stages.size(), kNoIndex);
  uint32_t readers = 0;
  for (uint32_t v = graph.node_count(); v-- > 0;) {
    const uint32_t stage = priced.division.stage_of[v];
    for (uint32_t o = graph.output_end(v); o-- > graph.output_begin(v);) {
      readers = add_cut(o, stage, readers, priced);
    }
    if (has_control_) readers = add_controls(v, stage, readers, priced);
    if (ranked) {
      double& rank = priced.stages[stage].rank;
      rank = std::max(rank, problem_.upward_rank()[v]);
    }
    if (spend(stop_, graph.out_work(v))) return;
  }
}

// The output is a cut if another stage than the one that makes it reads it. Returns the end of its
// readers, which begin at `end`.
[[gnu::always_inline]] inline uint32_t StagePricer::add_cut(uint32_t output, uint32_t stage,
                                                            uint32_t end, PricedDivision& priced) {
  const uint32_t* const stage_of = priced.division.stage_of.data();
  const uint32_t* const device_of = priced.division.device.data();
  uint32_t* const readers = priced.readers.data();
  uint32_t* const seen = seen_.data();
  StageRun* const stages = priced.stages.data();
  const uint32_t first = end, source = device_of[stage];
  double us = 0;  // on the source, once there is a reader
  for (const uint32_t consumer : watched(problem_.graph().consumers(output), stop_)) {
    const uint32_t reader = stage_of[consumer];
    if (reader == stage || seen[reader] == output) continue;
    seen[reader] = output;
    if (end == first) us = price_us(source, output);
    const uint32_t device = device_of[reader];
    const bool alike = same_price_[device] == same_price_[source];
    stages[reader].head_us += alike ? us : price_us(device, output);
    ++stages[reader].missing;
    readers[end++] = reader;
  }
  if (end == first) return end;
  stages[stage].tail_us += us;
  lead(priced, stage, {output, first, end, kNoIndex});
  return end;
}

uint32_t StagePricer::add_controls(uint32_t node, uint32_t stage, uint32_t end,
                                   PricedDivision& priced) {
  for (const OutEdge& e : watched(problem_.graph().out_edges(node), stop_)) {
    const uint32_t reader = priced.division.stage_of[e.target];
    if (e.output != kControlEdge || reader == stage) continue;
    priced.readers[end] = reader;
    ++priced.stages[reader].missing;
    lead(priced, stage, {kControlEdge, end, end + 1, kNoIndex});
    ++end;
  }
  return end;
}

// Makes it the first of those that leave the stage.
void StagePricer::lead(PricedDivision& priced, uint32_t stage, StageCut cut) {
  cut.next = priced.stages[stage].first_cut;
  priced.stages[stage].first_cut = static_cast<uint32_t>(priced.cuts.size());
  priced.cuts.push_back(cut);
}
}  // namespace placeto
