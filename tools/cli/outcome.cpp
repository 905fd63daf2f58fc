#include "tools/cli/outcome.h"

#include <fmt/format.h>

#include "runtime/cost/evaluator.h"
#include "runtime/timeline/critical_path.h"
#include "tools/cli/problem_input.h"
#include "tools/report/chrome_trace.h"

namespace placeto::cli {

std::string device_table(const Problem& problem, std::span<const uint32_t> assignment,
                         const Timeline& timeline) {
  Table table({{"device", Align::kLeft},
               {"kind", Align::kLeft},
               {"nodes", Align::kRight},
               {"busy", Align::kRight},
               {"share", Align::kRight},
               {"peak memory", Align::kRight},
               {"limit", Align::kRight}});
  std::vector<uint64_t> nodes(problem.device_count(), 0);
  for (const uint32_t d : assignment) ++nodes[d];
  for (uint32_t d = 0; d < nodes.size(); ++d) {
    const DeviceSpec& device = problem.topology().device(d);
    uint32_t last = d;  // devices of a kind that have nothing to do share a line
    while (nodes[d] == 0 && last + 1 < nodes.size() && nodes[last + 1] == 0 &&
           problem.topology().device(last + 1).kind == device.kind &&
           problem.memory_limit(last + 1) == problem.memory_limit(d)) {
      ++last;
    }
    const uint64_t limit = problem.memory_limit(d), peak = timeline.peak_memory_bytes[d];
    const double busy = timeline.device_busy_us[d];
    table.add_row(
        {device_range(problem.topology(), d, last), shortened(device.kind, 16),
         format_count(nodes[d]), format_us(busy),
         timeline.makespan_us > 0 ? fmt::format("{:.0f}%", 100 * busy / timeline.makespan_us) : "-",
         memory_cell(peak, limit), limit == Problem::kUnlimited ? "none" : format_bytes(limit)},
        peak > limit ? Emphasis::kBad : Emphasis::kNone);
    d = last;
  }
  return table.render();
}

std::string device_range(const Topology& topology, uint32_t first, uint32_t last) {
  const std::string name = shortened(topology.device(first).name, 32);
  return first == last ? name : name + " to " + shortened(topology.device(last).name, 32);
}

std::vector<std::string> channel_names(const Topology& topology) {
  std::vector<std::string> names;
  for (uint32_t c = 0; c < topology.channel_count(); ++c) names.push_back(topology.channel_name(c));
  return names;
}

static std::vector<uint64_t> nodes_by_stage(const Timeline& timeline) {
  std::vector<uint64_t> nodes(timeline.stages.size(), 0);
  for (const uint32_t s : timeline.stage_of) ++nodes[s];
  return nodes;
}

std::string stage_table(const Problem& problem, const Timeline& timeline) {
  constexpr size_t kMostRows = 40;
  Table table({{"stage", Align::kRight},
               {"device", Align::kLeft},
               {"nodes", Align::kRight},
               {"starts", Align::kRight},
               {"takes", Align::kRight}});
  const std::vector<uint64_t> nodes = nodes_by_stage(timeline);
  for (size_t i = 0; i < timeline.stage_order.size() && i < kMostRows; ++i) {
    const uint32_t s = timeline.stage_order[i];
    const StageSlice& stage = timeline.stages[s];
    table.add_row({std::to_string(s), shortened(problem.topology().device(stage.device).name, 32),
                   format_count(nodes[s]), format_us(stage.start_us),
                   format_us(stage.end_us - stage.start_us)});
  }
  std::string text = table.render();
  if (timeline.stages.size() > kMostRows) {
    text += fmt::format("and {} more stages\n", timeline.stages.size() - kMostRows);
  }
  return text;
}

void add_stages(Json& object, const Problem& problem, const Timeline& timeline) {
  if (timeline.stages.empty()) return;
  const std::vector<uint64_t> nodes = nodes_by_stage(timeline);
  Json stages = Json::array();
  for (size_t s = 0; s < timeline.stages.size(); ++s) {
    const StageSlice& stage = timeline.stages[s];
    stages.push_back({{"device", problem.topology().device(stage.device).name},
                      {"nodes", nodes[s]},
                      {"start_us", stage.start_us},
                      {"end_us", stage.end_us}});
  }
  object["stages"] = std::move(stages);
  object["stage_of"] = timeline.stage_of;
  object["stage_order"] = timeline.stage_order;
}

void add_figures(Json& object, const Timeline& timeline, const LowerBounds& bounds) {
  object["bottleneck_us"] = timeline.bottleneck_us;
  object["device_busy_us"] = timeline.device_busy_us;
  object["channel_busy_us"] = timeline.channel_busy_us;
  object["lower_bound_us"] = bounds.best_us();
  object["critical_path_bound_us"] = bounds.critical_path_us;
  object["work_bound_us"] = bounds.work_us;
}

void add_reports(Command& command, Reports& reports) {
  command
      .option("--report", "FILE", reports.page,
              "Write a report: timeline, memory, graph, reasons (one HTML file)")
      .writes();
  command.option("--trace", "FILE", reports.trace, "Write a Chrome trace (opens in Perfetto)")
      .writes();
}

bool reports_fit(const Problem& problem, double left_ms) {
  constexpr uint64_t kSmall = 4'000;
  constexpr double kMostMs = 0.1;  // for a node or an edge
  const uint64_t size = problem.graph().size();
  return size <= kSmall || kMostMs * static_cast<double>(size) <= left_ms;
}

void add_reports(OutputFiles& files, const Reports& reports, const Problem& problem,
                 const LowerBounds& bounds, const Timeline& timeline, ReportPlacement placement) {
  if (!reports.page.empty()) {
    placement.label = placement.method.empty() ? "placement" : placement.method;
    simulate_for_report(problem, recorded_division(timeline), kLittleReasonWork, placement);
    files.add(reports.page, report_page(problem, bounds, {&placement, 1}));
  }
  if (!reports.trace.empty()) {
    files.add(reports.trace, chrome_trace(problem, placement.assignment, timeline));
  }
}

void simulate_for_report(const Problem& problem, const Division& division, uint64_t work,
                         ReportPlacement& placement) {
  const Assignment& assignment = placement.assignment;
  placement.timeline = Simulator(problem).run(assignment, division);
  placement.violations = violations(problem, assignment, placement.timeline);
  if (obeys_rules(problem, assignment)) {
    const CriticalPath path = critical_path(problem, assignment, placement.timeline);
    placement.reasons = explain_nodes(problem, assignment, division, path.nodes, work);
  }
}

std::string heading(const Problem& problem) {
  const auto named = [](const std::string& name) {
    return name.empty() ? std::string("(unnamed)") : printable(name);
  };
  const Graph& graph = problem.graph();
  return fitted(fmt::format("{} ({}, {}) on {} ({})\n", named(graph.name()),
                            plural(graph.node_count(), "node"), plural(graph.edge_count(), "edge"),
                            named(problem.topology().name()),
                            plural(problem.device_count(), "device")));
}

}  // namespace placeto::cli
