#include "tools/cli/outcome.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "runtime/cost/evaluator.h"
#include "runtime/timeline/critical_path.h"
#include "tools/report/chrome_trace.h"

namespace placeto::cli {
namespace {

// Devices that get a memory column of their own before tables become too wide.
constexpr uint32_t kWideTable = 8;

std::string memory_cell(uint64_t bytes, uint64_t limit) {
  if (limit == Problem::kUnlimited) return format_bytes(bytes);
  const char* over = bytes > limit ? " !" : "";
  return format_bytes(bytes) + over;
}

// The fullest device, for topologies too wide for a column each.
std::string fullest(const Problem& problem, const std::vector<uint64_t>& peaks) {
  uint32_t worst = 0;
  const auto share = [&](uint32_t d) {
    return static_cast<double>(peaks[d]) / static_cast<double>(problem.memory_limit(d));
  };
  for (uint32_t d = 1; d < peaks.size(); ++d) {
    if (share(d) > share(worst)) worst = d;
  }
  return memory_cell(peaks[worst], problem.memory_limit(worst)) + " on " +
         problem.topology().device(worst).name;
}

std::string ratio(double value, double base) {
  return base > 0 && std::isfinite(value) ? fmt::format("{:.3f}", value / base) : "-";
}

}  // namespace

Problem build_problem(const std::string& graph_path, const Graph& graph,
                      const std::string& topology_path, const Topology& topology,
                      const Rules& rules) {
  auto problem = Problem::build(graph, topology, rules);
  if (problem.ok()) return std::move(*problem);
  const std::string where = graph_path + " on " + topology_path;
  const Status& status = problem.status();
  if (status.code() == StatusCode::kBadInput) {
    // The files may be fine, and the caller's own rules leave no device.
    const bool rules_to_blame = Problem::build(graph, topology).ok();
    throw Failure(
        rules_to_blame ? kNoFeasiblePlacement : kBadInputFile,
        where + ": " + (rules_to_blame ? "no feasible placement: " : "") + status.message());
  }
  throw Failure(exit_status(status), where + ": " + status.message());
}

bool ignores_latency(const Topology& topology) {
  const TopologySpec& spec = topology.spec();
  if (spec.transfer == Transfer::kUnicast) return false;
  return spec.default_link.latency_us > 0 ||
         std::any_of(spec.links.begin(), spec.links.end(),
                     [](const LinkSpec& link) { return link.parameters.latency_us > 0; });
}

void check_runnable(const Problem& problem, std::span<const uint32_t> assignment) {
  for (uint32_t v = 0; v < assignment.size(); ++v) {
    if (std::isfinite(problem.run_us(v, assignment[v]))) continue;
    const DeviceSpec& device = problem.topology().device(assignment[v]);
    throw Failure(kNoFeasiblePlacement,
                  fmt::format("the placement puts node {} '{}' on device '{}', whose kind '{}' "
                              "cannot run it",
                              v, problem.graph().node(v).name, device.name, device.kind));
  }
}

std::vector<std::string> violations(const Problem& problem, std::span<const uint32_t> assignment,
                                    const Timeline& timeline) {
  std::vector<std::string> found;
  if (!obeys_rules(problem, assignment)) {
    found.emplace_back("a node is on a kind it is not allowed on, or apart from its colocation");
  }
  const auto over = memory_shortfall(problem, timeline.peak_memory_bytes);
  for (uint32_t d = 0; d < over.size(); ++d) {
    if (over[d] == 0) continue;
    found.push_back(fmt::format("device '{}' lacks {} bytes of memory",
                                problem.topology().device(d).name, over[d]));
  }
  return found;
}

std::vector<CandidateRow> candidate_rows(const Problem& problem,
                                         std::span<const Candidate> candidates,
                                         const Candidate& chosen) {
  Simulator simulator(problem);
  std::vector<CandidateRow> rows;
  bool marked = false;
  for (const Candidate& candidate : candidates) {
    const Timeline& timeline = simulator.run(candidate.assignment);
    const bool is_chosen =
        !marked && candidate.method == chosen.method && candidate.assignment == chosen.assignment;
    marked = marked || is_chosen;
    rows.push_back({candidate.method, timeline.makespan_us, timeline.bottleneck_us,
                    timeline.peak_memory_bytes, candidate.score.feasible(), is_chosen});
  }
  return rows;
}

std::string candidate_table(const Problem& problem, const LowerBounds& bounds,
                            std::span<const CandidateRow> rows, bool color) {
  const bool wide = problem.device_count() <= kWideTable;
  std::vector<Table::Column> columns{{"", Align::kLeft},
                                     {"method", Align::kLeft},
                                     {"makespan", Align::kRight},
                                     {"/ bound", Align::kRight}};
  const bool throughput = problem.objective() == Objective::kThroughput;
  if (throughput) columns.push_back({"bottleneck", Align::kRight});
  for (uint32_t d = 0; wide && d < problem.device_count(); ++d) {
    columns.push_back({shortened(problem.topology().device(d).name, 16), Align::kRight});
  }
  if (!wide) columns.push_back({"fullest device", Align::kRight});
  columns.push_back({"fits", Align::kLeft});
  Table table(columns);
  for (const CandidateRow& row : rows) {
    std::vector<std::string> cells{row.chosen ? "*" : "", row.method, format_us(row.makespan_us),
                                   ratio(row.makespan_us, bounds.best_us())};
    if (throughput) cells.push_back(format_us(row.bottleneck_us));
    for (uint32_t d = 0; wide && d < problem.device_count(); ++d) {
      cells.push_back(memory_cell(row.peak_memory_bytes[d], problem.memory_limit(d)));
    }
    if (!wide) cells.push_back(fullest(problem, row.peak_memory_bytes));
    cells.emplace_back(row.feasible ? "yes" : "no");
    table.add_row(std::move(cells), row.chosen     ? Emphasis::kGood
                                    : row.feasible ? Emphasis::kNone
                                                   : Emphasis::kBad);
  }
  return table.render(color);
}

std::string device_table(const Problem& problem, std::span<const uint32_t> assignment,
                         const Timeline& timeline, bool color) {
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
    const uint64_t limit = problem.memory_limit(d), peak = timeline.peak_memory_bytes[d];
    const double busy = timeline.device_busy_us[d];
    table.add_row(
        {shortened(device.name, 32), shortened(device.kind, 16), format_count(nodes[d]),
         format_us(busy),
         timeline.makespan_us > 0 ? fmt::format("{:.0f}%", 100 * busy / timeline.makespan_us) : "-",
         memory_cell(peak, limit), limit == Problem::kUnlimited ? "none" : format_bytes(limit)},
        peak > limit ? Emphasis::kBad : Emphasis::kNone);
  }
  return table.render(color);
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
  command.option("--report", "FILE", reports.page,
                 "Write a report: timeline, memory, graph, reasons (one HTML file)");
  command.option("--trace", "FILE", reports.trace, "Write a Chrome trace (opens in Perfetto)");
}

void write_reports(const Reports& reports, const Problem& problem, const LowerBounds& bounds,
                   std::span<const uint32_t> assignment, const Timeline& timeline,
                   const std::string& method, std::vector<CandidateRow> candidates) {
  if (!reports.page.empty()) {
    const ReportPlacement placement =
        report_placement(problem, Assignment(assignment.begin(), assignment.end()), method,
                         std::move(candidates), kLittleReasonWork);
    write_text(reports.page, report_page(problem, bounds, {&placement, 1}));
  }
  if (!reports.trace.empty()) {
    write_text(reports.trace, chrome_trace(problem, assignment, timeline));
  }
}

ReportPlacement report_placement(const Problem& problem, Assignment assignment,
                                 const std::string& method, std::vector<CandidateRow> candidates,
                                 uint64_t work) {
  ReportPlacement placement;
  placement.label = method.empty() ? "placement" : method;
  placement.method = method;
  placement.timeline = Simulator(problem).run(assignment);
  placement.violations = violations(problem, assignment, placement.timeline);
  placement.candidates = std::move(candidates);
  if (obeys_rules(problem, assignment)) {
    const CriticalPath path = critical_path(problem, assignment, placement.timeline);
    placement.reasons = explain_nodes(problem, assignment, path.nodes, work);
  }
  placement.assignment = std::move(assignment);
  return placement;
}

std::string heading(const Problem& problem) {
  const auto named = [](const std::string& name) {
    return name.empty() ? std::string("(unnamed)") : printable(name);
  };
  const Graph& graph = problem.graph();
  return fmt::format("{} ({}, {}) on {} ({})\n", named(graph.name()),
                     plural(graph.node_count(), "node"), plural(graph.edge_count(), "edge"),
                     named(problem.topology().name()), plural(problem.device_count(), "device"));
}

}  // namespace placeto::cli
