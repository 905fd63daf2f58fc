// placeto report: one HTML page about one placement of a graph, or several side by side.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <limits>
#include <memory>

#include "runtime/cost/rounding.h"
#include "runtime/placer/placer.h"
#include "tools/cli/candidate_table.h"
#include "tools/cli/commands.h"
#include "tools/cli/common.h"
#include "tools/cli/files.h"
#include "tools/cli/graph_input.h"
#include "tools/cli/methods.h"
#include "tools/cli/outcome.h"
#include "tools/cli/problem_input.h"
#include "tools/cli/recorded.h"
#include "tools/cli/rules.h"
#include "tools/cli/times.h"
#include "tools/cli/topologies.h"
#include "tools/io/read.h"
#include "tools/report/reasons.h"
#include "tools/report/status_line.h"

namespace placeto::cli {
namespace {

constexpr const char* kReportExamples = R"(Examples:
  placeto report placement.json --graph graph.json --topology 2xk80 -o report.html
  placeto report heft.json search.json --graph graph.json --topology 2xk80 -o report.html
  placeto report p.json --graph graph.json --topology 2xk80 --candidates -o report.html

The first placement is the one that the others are compared with; all run on the engine that it was
placed for. The table of candidates shows what
`place --json` wrote into the placement; --candidates tries every method again instead. The page is
one file that needs no network.)";

struct ReportOptions {
  Common common;
  ModelOptions model;
  std::vector<std::string> placements, labels;
  std::string graph, topology, out, engine;
  std::string policy = kDefaultPolicy;
  bool candidates = false;
  uint64_t reasons = kUnset;
  MethodChoice method;
  RuleOptions rules;
  static constexpr uint64_t kUnset = ~uint64_t{0};
};

// What the page calls the placements: as the caller says, else the files' names, made distinct.
std::vector<std::string> labels(const ReportOptions& options) {
  if (!options.labels.empty() && options.labels.size() != options.placements.size()) {
    throw Failure(kBadUsage, fmt::format("{} for {}: give as many, or none",
                                         plural(options.labels.size(), "--label"),
                                         plural(options.placements.size(), "placement")));
  }
  std::vector<std::string> names = options.labels;
  if (names.empty()) {
    for (const std::string& path : options.placements) {
      names.push_back(path == "-" ? "standard input" : std::filesystem::path(path).stem().string());
    }
  }
  const std::vector<std::string> wanted = names;
  for (size_t i = 0; i < names.size(); ++i) {
    if (std::count(wanted.begin(), wanted.end(), wanted[i]) > 1) {
      names[i] = fmt::format("{} ({})", wanted[i], i + 1);
    }
  }
  return names;
}

// The rows that the placement file carries. Its devices may be in another order than the
// topology's.
std::vector<CandidateRow> rows_of(const PlacementSpec& placement, const Topology& topology) {
  std::vector<CandidateRow> rows;
  bool marked = false;
  for (const CandidateSpec& c : placement.candidates) {
    const bool chosen = !marked && c.method == placement.method;
    marked = marked || chosen;
    rows.push_back({c.method, c.makespan_us, c.bottleneck_us, {}, c.feasible, chosen});
    if (c.peak_memory_bytes.size() != placement.devices.size()) continue;
    rows.back().peak_memory_bytes.resize(topology.device_count(), 0);
    for (size_t i = 0; i < placement.devices.size(); ++i) {
      const uint32_t device = topology.find_device(placement.devices[i]);
      if (device >= topology.device_count()) continue;
      rows.back().peak_memory_bytes[device] = c.peak_memory_bytes[i];
    }
  }
  return rows;
}

// The candidate that is the placement shown, if any is, counts as chosen: not today's winner.
void add_candidates_by_placing(const Problem& problem, const ReportOptions& options,
                               ReportPlacement& shown) {
  const PlaceResult result = require(run_method(problem, options.method));
  shown.replicas_us = result.replicas_us;
  shown.candidates = candidate_rows(problem, result);
  bool marked = false;
  for (size_t i = 0; i < result.candidates.size(); ++i) {
    CandidateRow& row = shown.candidates[i];
    row.chosen = !marked && result.candidates[i].assignment == shown.assignment;
    marked = marked || row.chosen;
  }
}

size_t moved_nodes(const Assignment& a, const Assignment& b) {
  size_t moved = 0;
  for (size_t v = 0; v < a.size(); ++v) moved += a[v] != b[v];
  return moved;
}

// What the files record of bounds and proofs, where nothing that is shown contradicts it.
LowerBounds with_recorded(LowerBounds bounds, const Problem& problem,
                          std::span<const PlacementSpec> specs, const ReportOptions& options,
                          std::span<ReportPlacement> placements) {
  double shortest_us = std::numeric_limits<double>::infinity();
  for (const ReportPlacement& p : placements) {
    if (p.violations.empty()) shortest_us = std::min(shortest_us, p.timeline.makespan_us);
  }
  const LowerBounds computed = bounds;
  for (size_t i = 0; i < placements.size(); ++i) {
    ReportPlacement& shown = placements[i];
    if (!shown.violations.empty()) continue;
    const RecordedProof proof = proof_of(specs[i], problem, shown.timeline);
    const bool is_beaten = rounded_down(proof.bound_us) > shortest_us;  // under other rules
    if (is_beaten || !tells_more(proof, computed)) continue;
    bounds.proved_us = std::max(bounds.proved_us, proof.bound_us);
    shown.proved = proof.proved;
    shown.bound_file = options.placements[i];
  }
  return bounds;
}

// Where what is said of bounds comes from, if not from here.
std::string sources(std::span<const ReportPlacement> placements) {
  std::string text;
  for (const ReportPlacement& p : placements) {
    if (p.bound_file.empty()) continue;
    text += fitted(proof_text({.proved = p.proved}, p.bound_file) + "\n");
  }
  return text.empty() ? "" : "\n" + text;
}

std::string summary(const Problem& problem, const LowerBounds& bounds,
                    std::span<const ReportPlacement> placements) {
  Table table({{"placement", Align::kLeft},
               {"makespan", Align::kRight},
               {"/ bound", Align::kRight},
               {"nodes moved", Align::kRight},
               {"feasible", Align::kLeft}});
  for (const ReportPlacement& p : placements) {
    const double us = p.timeline.makespan_us, bound = bounds.best_us();
    table.add_row(
        {shortened(p.label, 40), format_us(us), bound > 0 ? fmt::format("{:.3f}", us / bound) : "-",
         format_count(moved_nodes(placements[0].assignment, p.assignment)),
         p.violations.empty() ? "yes" : "no"},
        p.violations.empty() ? Emphasis::kNone : Emphasis::kBad);
  }
  std::string text = heading(problem) + "\n" + table.render() + sources(placements);
  for (const ReportPlacement& p : placements) {
    for (const std::string& what : p.violations) {
      const std::string line = printable(p.label + " is not feasible: " + what);
      text += emphasized(fitted(line), Emphasis::kBad) + "\n";
    }
  }
  return text;
}

Json describe(const LowerBounds& bounds, std::span<const ReportPlacement> placements,
              size_t page_bytes) {
  Json rows = Json::array();
  for (const ReportPlacement& p : placements) {
    rows.push_back({{"label", p.label},
                    {"method", p.method},
                    {"makespan_us", p.timeline.makespan_us},
                    {"moved_nodes", moved_nodes(placements[0].assignment, p.assignment)},
                    {"explained_nodes", p.reasons.asked},
                    {"proved", p.proved},
                    {"lower_bound_recorded", !p.bound_file.empty()},
                    {"feasible", p.violations.empty()},
                    {"violations", p.violations},
                    {"note", p.note}});
  }
  return {{"lower_bound_us", bounds.best_us()},
          {"placements", std::move(rows)},
          {"page_bytes", page_bytes}};
}

void run_report(ReportOptions& options) {
  check_outputs({options.out});
  const std::vector<std::string> names = labels(options);
  std::vector<PlacementSpec> specs;
  for (const std::string& path : options.placements) specs.push_back(require(read_placement(path)));
  take_up_dims(specs[0], options.placements[0], options.model);
  const Graph graph = load_graph(options.graph, options.model);
  const Topology topology =
      engine_of(specs[0], options.placements[0], options.engine).load(options.topology);
  check_cost_kinds(options.model.costs, graph, {&topology});
  note_times(options.graph, graph, options.topology, topology);
  const Rules rules = resolve_rules(options.rules, graph, topology);
  const Problem problem = build_problem(options.graph, graph, options.topology, topology, rules);
  if (options.candidates) options.method.policy = load_policy(options.policy);

  const uint64_t per_node = work_of_reason(problem);
  const uint64_t all = per_node * problem.node_count();
  const uint64_t work = options.reasons == ReportOptions::kUnset
                            ? kReasonWork / options.placements.size()
                            : std::min(options.reasons, uint64_t{problem.node_count()}) * per_node;
  std::vector<ReportPlacement> placements;
  StatusLine line("simulating and asking for reasons ...");
  for (size_t i = 0; i < names.size(); ++i) {
    const PlacementSpec& spec = specs[i];
    ReportPlacement& shown = placements.emplace_back();
    shown.label = names[i];
    shown.method = spec.method;
    shown.assignment = assignment_of(spec, options.placements[i], graph, options.graph, topology);
    check_runnable(problem, shown.assignment);
    const auto division = resolve_stages(spec, graph, shown.assignment);
    if (!division.ok()) require(division.status().at(options.placements[i]));
    if (!options.candidates) {
      shown.candidates = rows_of(spec, topology);
      shown.replicas_us = spec.replicas_us;
      shown.note = spec.note;
    } else if (i == 0) {
      add_candidates_by_placing(problem, options, shown);
    }
    simulate_for_report(problem, *division, std::min(work, all), shown);
    add_note(note_unlike_recorded(spec, options.placements[i], graph, options.engine, options.model,
                                  shown.timeline.makespan_us),
             shown.note);
  }

  const LowerBounds bounds =
      with_recorded(lower_bounds(problem), problem, specs, options, placements);
  const std::string page = report_page(problem, bounds, placements);
  line.clear();
  if (options.common.json) {
    print_json(describe(bounds, placements, page.size()));
  } else {
    print(summary(problem, bounds, placements));
  }
  write_text(options.out, page);
}

}  // namespace

void add_report(Program& program) {
  Command& command =
      program.add("report", "Show placements of a graph: one HTML page for a browser");
  auto options = std::make_shared<ReportOptions>();
  command.arguments("PLACEMENT", options->placements, "Placement files").required();
  command.option("-g,--graph", "FILE", options->graph, "Graph file, or ONNX model").required();
  add_topology(command, options->topology).required();
  command.option("-o,--output", "FILE", options->out, "HTML file to write").required().writes();
  command
      .list("--label", "TEXT", options->labels,
            "What to call a placement; as many as there are placements (repeatable)")
      .proposes_words({});
  command.flag("--candidates", options->candidates,
               "Try every method now, for the table of candidates");
  command.count("--reasons", options->reasons,
                "Say for that many nodes what the second-best device would cost (default: as many "
                "as a few seconds allow)");
  add_recorded_engine(command, options->engine);
  command.needs("--candidates");
  add_policy_option(command, options->policy);
  add_method_options(command, options->method.options);
  command.needs("");
  add_common(command, options->common);
  add_rules(command, options->rules);
  add_model_options(command, options->model);
  command.footer(kReportExamples);
  command.action([options] { run_report(*options); });
}

}  // namespace placeto::cli
