#include "tools/report/report_data.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <string_view>
#include <utility>

#include "runtime/cost/rounding.h"
#include "runtime/timeline/critical_path.h"
#include "tools/io/json_text.h"
#include "tools/report/advice.h"
#include "tools/report/lanes.h"
#include "tools/report/memory.h"
#include "tools/report/time_sources.h"

namespace placeto {
namespace {

using nlohmann::ordered_json;

// A chart is at most a few thousand pixels wide; beyond that, steps only make the page larger.
constexpr size_t kMostMemorySteps = 8192;

// Nanoseconds are more than a screen shows, and short numbers halve the page. Shorter times keep
// four digits: by powers of ten, so that order survives.
double rounded(double us) {
  if (!std::isfinite(us)) return 0;
  double scale = 1e3;
  while (us != 0 && std::fabs(us) * scale < 1e3 && scale < 1e64) scale *= 10;
  return std::round(us * scale) / scale;
}

template <class T, class F>
ordered_json column(const std::vector<T>& values, F&& f) {
  ordered_json array = ordered_json::array();
  for (const T& value : values) array.push_back(f(value));
  return array;
}

ordered_json describe_nodes(const Graph& graph) {
  std::map<std::string_view, uint32_t> op_index;
  ordered_json ops = ordered_json::array(), names = ordered_json::array();
  ordered_json op = ordered_json::array(), resident = ordered_json::array();
  for (uint32_t v = 0; v < graph.node_count(); ++v) {
    const NodeSpec& node = graph.node(v);
    const auto [it, is_new] = op_index.try_emplace(node.op, static_cast<uint32_t>(ops.size()));
    if (is_new) ops.push_back(node.op.empty() ? "(no op)" : node.op);
    names.push_back(node.name.empty() ? "#" + std::to_string(v) : node.name);
    op.push_back(it->second);
    resident.push_back(node.resident_bytes);
  }
  return {{"ops", std::move(ops)},
          {"name", std::move(names)},
          {"op", std::move(op)},
          {"resident", std::move(resident)}};
}

ordered_json describe_edges(const Graph& graph) {
  const auto& edges = graph.spec().edges;
  return {{"source", column(edges, [](const EdgeSpec& e) { return e.source; })},
          {"target", column(edges, [](const EdgeSpec& e) { return e.target; })}};
}

ordered_json describe_devices(const Problem& problem) {
  ordered_json devices = ordered_json::array();
  for (uint32_t d = 0; d < problem.device_count(); ++d) {
    const DeviceSpec& device = problem.topology().device(d);
    const uint64_t limit = problem.memory_limit(d);
    devices.push_back(
        {{"name", device.name},
         {"kind", device.kind},
         {"limit", limit == Problem::kUnlimited ? ordered_json(nullptr) : ordered_json(limit)}});
  }
  return devices;
}

ordered_json describe_transfers(const Problem& problem, const Timeline& timeline) {
  const Graph& graph = problem.graph();
  Lanes lanes = transfer_lanes(problem.topology(), timeline);
  const auto& transfers = timeline.transfers;
  using T = TransferSlice;
  const auto output_of = [&](const T& t) {
    return t.output - graph.output_begin(graph.producer(t.output));
  };
  const auto to = [](const T& t) {
    return t.destination == T::kBroadcast ? -1 : int64_t{t.destination};
  };
  return {{"lanes", lanes.names},
          {"lane", lanes.of_transfer},
          {"producer", column(transfers, [&](const T& t) { return graph.producer(t.output); })},
          {"output", column(transfers, output_of)},
          {"bytes", column(transfers, [&](const T& t) { return graph.output_bytes(t.output); })},
          {"to", column(transfers, to)},
          {"start", column(transfers, [](const T& t) { return rounded(t.start_us); })},
          {"finish", column(transfers, [](const T& t) { return rounded(t.end_us); })},
          {"arrival", column(transfers, [](const T& t) { return rounded(t.arrival_us); })}};
}

// At most kMostMemorySteps of them: neighbours become one with the largest number of bytes, so
// peaks stay what they are.
std::vector<MemoryStep> thinned(const std::vector<MemoryStep>& steps) {
  const size_t together = (steps.size() + kMostMemorySteps - 1) / kMostMemorySteps;
  if (together <= 1) return steps;
  std::vector<MemoryStep> fewer;
  for (size_t i = 0; i < steps.size(); ++i) {
    if (i % together == 0) fewer.push_back(steps[i]);
    fewer.back().bytes = std::max(fewer.back().bytes, steps[i].bytes);
  }
  return fewer;
}

ordered_json describe_memory(const Problem& problem, const ReportPlacement& placement) {
  ordered_json devices = ordered_json::array();
  for (const auto& all : memory_steps(problem, placement.assignment, placement.timeline)) {
    const std::vector<MemoryStep> steps = thinned(all);
    devices.push_back(
        {{"at", column(steps, [](const MemoryStep& s) { return rounded(s.time_us); })},
         {"bytes", column(steps, [](const MemoryStep& s) { return s.bytes; })}});
  }
  return devices;
}

ordered_json describe_reasons(const Reasons& reasons) {
  if (reasons.asked == 0) return nullptr;
  const auto device = [](uint32_t d) {
    return d == Reasons::kNoOther ? -1 : d == Reasons::kNotAsked ? -2 : int64_t{d};
  };
  return {{"here", rounded(reasons.here_us)},
          {"asked", reasons.asked},
          {"second", column(reasons.second, device)},
          {"there", column(reasons.there_us, rounded)},
          {"fits", reasons.there_fits}};
}

// The device that everything is on; -1: there is none. Rows of files have no more than a method.
int64_t only_device(const Topology& topology, const CandidateRow& row) {
  if (row.only_device) return *row.only_device;
  for (uint32_t d = 0; d < topology.device_count(); ++d) {
    if (row.method == "single " + topology.device(d).name) return d;
  }
  return -1;
}

ordered_json describe_stages(const Timeline& timeline) {
  return column(timeline.stages, [](const StageSlice& stage) -> ordered_json {
    return {{"device", stage.device},
            {"start", rounded(stage.start_us)},
            {"finish", rounded(stage.end_us)}};
  });
}

ordered_json describe_candidates(const Problem& problem, const std::vector<CandidateRow>& rows) {
  return column(rows, [&](const CandidateRow& row) -> ordered_json {
    return {{"method", row.method},
            {"makespan", rounded(row.makespan_us)},
            {"bottleneck", rounded(row.bottleneck_us)},
            {"memory", row.peak_memory_bytes},
            {"only", only_device(problem.topology(), row)},
            {"feasible", row.feasible},
            {"chosen", row.chosen}};
  });
}

// A second or two of simulations for the largest graphs and machines.
constexpr uint64_t kAdviceWork = 2'000'000;

ordered_json describe_shares(const std::vector<WaitingShare>& shares) {
  return column(shares, [](const WaitingShare& s) -> ordered_json {
    return {{"what", s.what}, {"us", rounded(s.us)}};
  });
}

ordered_json describe_advice(const Problem& problem, const ReportPlacement& placement) {
  const Advice advice = advise(problem, placement.assignment, placement.timeline, kAdviceWork);
  return {{"waits", describe_shares(advice.waits_for)},
          {"busiest", describe_shares(advice.busiest)},
          {"faster", column(advice.twice_as_fast,
                            [](const FasterPart& f) -> ordered_json {
                              return {{"what", f.what}, {"objective", rounded(f.objective_us)}};
                            })},
          {"without_limits", rounded(advice.without_limits_us)}};
}

// Where the run times of nodes on their devices come from.
std::vector<TimeSource> time_sources(const Problem& problem, const Assignment& assignment) {
  const TimeSources sources(problem.graph());
  std::vector<TimeSource> of_nodes;
  for (uint32_t v = 0; v < assignment.size(); ++v) {
    of_nodes.push_back(sources.of(v, problem.topology().device(assignment[v]).kind));
  }
  return of_nodes;
}

// No run is shorter than the bound, which is one of latency: one as short is the best there is.
bool proved_optimal(const Problem& problem, const LowerBounds& bounds,
                    const ReportPlacement& placement) {
  if (!placement.violations.empty()) return false;
  return placement.proved || (problem.is_for_latency() && bounds.best_us() > 0 &&
                              bounds.best_us() >= rounded_down(placement.timeline.makespan_us));
}

ordered_json describe_placement(const Problem& problem, const LowerBounds& bounds,
                                const ReportPlacement& placement) {
  const Timeline& timeline = placement.timeline;
  const CriticalPath critical = critical_path(problem, placement.assignment, timeline);
  return {{"label", placement.label},
          {"method", placement.method},
          {"note", placement.note},
          {"makespan", rounded(timeline.makespan_us)},
          {"drain", rounded(timeline.drain_us)},
          {"bottleneck", rounded(timeline.bottleneck_us)},
          {"stages", describe_stages(timeline)},
          {"stage_of", timeline.stage_of},
          {"stage_order", timeline.stage_order},
          {"violations", placement.violations},
          {"proved", proved_optimal(problem, bounds, placement)},
          {"bound_file", placement.bound_file},
          {"replicas", rounded(placement.replicas_us)},
          {"busy", column(timeline.device_busy_us, rounded)},
          {"peak", timeline.peak_memory_bytes},
          {"device", placement.assignment},
          {"time_source", time_sources(problem, placement.assignment)},
          {"start", column(timeline.start_us, rounded)},
          {"finish", column(timeline.finish_us, rounded)},
          {"transfers", describe_transfers(problem, timeline)},
          {"critical", {{"nodes", critical.nodes}, {"transfers", critical.transfers}}},
          {"memory", describe_memory(problem, placement)},
          {"advice", describe_advice(problem, placement)},
          {"reasons", describe_reasons(placement.reasons)},
          {"candidates", describe_candidates(problem, placement.candidates)}};
}

}  // namespace

std::string report_data(const Problem& problem, const LowerBounds& bounds,
                        std::span<const ReportPlacement> placements) {
  ordered_json described = ordered_json::array();
  for (const ReportPlacement& p : placements) {
    described.push_back(describe_placement(problem, bounds, p));
  }
  const bool throughput = !problem.is_for_latency();
  const ordered_json data{{"graph", problem.graph().name()},
                          {"topology", problem.topology().name()},
                          {"objective", throughput ? "throughput" : "latency"},
                          {"lower_bound", rounded(bounds.best_us())},
                          {"devices", describe_devices(problem)},
                          {"nodes", describe_nodes(problem.graph())},
                          {"edges", describe_edges(problem.graph())},
                          {"placements", std::move(described)}};
  const std::string text = json_text(data);
  // In a script element only '<' can end or reopen anything.
  std::string safe;
  safe.reserve(text.size());
  for (const char c : text) {
    if (c == '<') {
      safe += "\\u003c";
    } else {
      safe += c;
    }
  }
  return safe;
}

}  // namespace placeto
