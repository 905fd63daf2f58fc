// placeto simulate: what the cost model predicts for a placement that the caller brings.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>
#include <filesystem>
#include <memory>

#include "runtime/cost/bounds.h"
#include "runtime/cost/evaluator.h"
#include "runtime/timeline/critical_path.h"
#include "tools/cli/commands.h"
#include "tools/cli/common.h"
#include "tools/cli/files.h"
#include "tools/cli/graph_input.h"
#include "tools/cli/outcome.h"
#include "tools/cli/problem_input.h"
#include "tools/cli/recorded.h"
#include "tools/cli/times.h"
#include "tools/cli/topologies.h"
#include "tools/devices/device_settings.h"
#include "tools/io/read.h"
#include "tools/report/advice.h"

namespace placeto::cli {
namespace {

constexpr const char* kSimulateExamples = R"(Examples:
  placeto simulate graph.json --topology 2xk80 --placement placement.json
  placeto simulate graph.json --topology 2xk80 --placement p.json --json
  placeto simulate graph.json --topology 2xk80 --placement p.json --trace trace.json

A placement that breaks a rule (memory, colocation) is simulated all the same and reported as not
feasible; one with a node on a device whose kind may not or cannot run it ends with status 1.
The engine that it was placed for, and numbers of free dimensions, are those that it records. Under
staged execution it runs in the stages that it records, or else by the best rule. The lower bound and
proof that it records hold where it takes as long as it records, and are told to be from there.

The bottleneck is how long one run takes up its busiest part, a device or a channel: the time per run
of a stream whose runs overlap in a pipeline. Devices that feed each other in a circle count as one
part, with all their times. That may be more than the makespan: then runs one after another, which
take a makespan each, have the shorter interval.)";

// Simulations times nodes, links and pairs of devices: well under a second.
constexpr uint64_t kAdviceWork = 1'000'000;

// "-12.3%"; what rounds to nothing has no sign.
std::string change_text(double percent) {
  return std::abs(percent) < 0.05 ? "0.0%" : fmt::format("{:+.1f}%", percent);
}

// "waits for: npu:0 computes 61%, ...", and what a faster part would buy.
std::string advice_lines(const Advice& advice, double makespan_us) {
  constexpr size_t kShown = 4;
  if (makespan_us <= 0) return "";  // nothing takes time
  const auto line = [](const char* what, std::vector<std::string> parts) {
    if (parts.size() > kShown) parts.resize(kShown);
    return parts.empty() ? "" : fmt::format("{}: {}\n", what, fmt::join(parts, ", "));
  };
  std::vector<std::string> waits, faster;
  for (const WaitingShare& share : advice.waits_for) {
    waits.push_back(fmt::format("{} {:.0f}%", printable(share.what), 100 * share.us / makespan_us));
  }
  for (const FasterPart& part : advice.twice_as_fast) {
    faster.push_back(printable(part.what) + " " +
                     change_text(100 * (part.objective_us / makespan_us - 1)));
  }
  return "\n" + fitted(line("waits for", waits) + line("if twice as fast", faster));
}

struct SimulateOptions {
  Common common;
  ModelOptions model;
  std::string graph, topology, placement, engine;
  Reports reports;
};

// In the order in which they start to be sent; those of "critical_path" are indices into them.
void add_transfers(Json& object, const Problem& problem, const Timeline& timeline) {
  const Graph& graph = problem.graph();
  Json transfers = Json::array();
  for (const TransferSlice& sent : timeline.transfers) {
    const uint32_t node = graph.producer(sent.output);
    Json& transfer = transfers.emplace_back(
        Json{{"node", node}, {"output", sent.output - graph.output_begin(node)}});
    if (sent.destination != TransferSlice::kBroadcast) transfer["to"] = sent.destination;
    transfer["channel"] = sent.channel;
    transfer["start_us"] = sent.start_us;
    transfer["end_us"] = sent.end_us;
    transfer["arrival_us"] = sent.arrival_us;
  }
  object["transfers"] = std::move(transfers);
}

Json describe(const Problem& problem, const Assignment& assignment, const Timeline& timeline,
              const LowerBounds& bounds, const std::vector<std::string>& found,
              const Advice& advice) {
  Json object{{"graph", problem.graph().name()},
              {"topology", problem.topology().name()},
              {"devices", device_names(problem.topology().spec()).names},
              {"channels", channel_names(problem.topology())},
              {"makespan_us", timeline.makespan_us},
              {"drain_us", timeline.drain_us},
              {"start_us", timeline.start_us},
              {"finish_us", timeline.finish_us},
              {"peak_memory_bytes", timeline.peak_memory_bytes},
              {"feasible", found.empty()},
              {"violations", found}};
  object["memory_shortfall_bytes"] = memory_shortfall(problem, timeline.peak_memory_bytes);
  add_figures(object, timeline, bounds);
  add_stages(object, problem, timeline);
  add_transfers(object, problem, timeline);
  const CriticalPath path = critical_path(problem, assignment, timeline);
  object["critical_path"] = {{"nodes", path.nodes}, {"transfers", path.transfers}};
  object["waits_for"] = Json::array();
  for (const WaitingShare& share : advice.waits_for) {
    object["waits_for"].push_back({{"what", share.what}, {"us", share.us}});
  }
  object["twice_as_fast"] = Json::array();
  for (const FasterPart& part : advice.twice_as_fast) {
    object["twice_as_fast"].push_back({{"what", part.what}, {"makespan_us", part.objective_us}});
  }
  return object;
}

std::string summary(const Problem& problem, const Assignment& assignment, const Timeline& timeline,
                    const LowerBounds& bounds, const std::vector<std::string>& found,
                    const Advice& advice) {
  std::string text = heading(problem) + "\n" + device_table(problem, assignment, timeline);
  if (!timeline.stages.empty()) text += "\n" + stage_table(problem, timeline);
  const CriticalPath path = critical_path(problem, assignment, timeline);
  Table figures({{"", Align::kLeft}, {"", Align::kRight}});
  figures.add_row({"makespan", format_us(timeline.makespan_us)}, Emphasis::kStrong);
  figures.add_row({"drain", format_us(timeline.drain_us)});
  figures.add_row({"bottleneck", format_us(timeline.bottleneck_us)});
  figures.add_row({"lower bound", format_us(bounds.best_us())});
  figures.add_row({"transfers", format_count(timeline.transfers.size())});
  figures.add_row({"critical path", fmt::format("{}, {}", plural(path.nodes.size(), "node"),
                                                plural(path.transfers.size(), "transfer"))});
  text += "\n" + figures.render() + advice_lines(advice, timeline.makespan_us);
  for (const std::string& what : found) {
    text += emphasized(fitted("not feasible: " + printable(what)), Emphasis::kBad) + "\n";
  }
  return text;
}

// For a placement that tune wrote, the graph that simulates it as tune did; "" if tune did not
// write it, or a graph is given.
std::string tuned_graph(const std::string& placement, const std::string& graph) {
  namespace fs = std::filesystem;
  std::error_code error;
  const fs::path folder = fs::path(placement).parent_path(), tuned = folder / "graph.bin";
  if (!fs::is_regular_file(folder / "tune.json", error) || !fs::is_regular_file(tuned, error) ||
      fs::equivalent(tuned, graph, error)) {
    return "";
  }
  return fmt::format(
      "{} is predicted with measured run times: those of {}, with -t {} and --engine none",
      placement, tuned.string(), (folder / "machine.json").string());
}

void run_simulate(SimulateOptions& options) {
  check_outputs({options.reports.page, options.reports.trace});
  const PlacementSpec placement = require(read_placement(options.placement));
  take_up_dims(placement, options.placement, options.model);
  const Graph graph = load_graph(options.graph, options.model);
  const Topology topology =
      engine_of(placement, options.placement, options.engine).load(options.topology);
  check_cost_kinds(options.model.costs, graph, {&topology});
  note_times(options.graph, graph, options.topology, topology);
  const Problem problem = build_problem(options.graph, graph, options.topology, topology);
  const Assignment assignment =
      assignment_of(placement, options.placement, graph, options.graph, topology);
  check_runnable(problem, assignment);
  const auto division = resolve_stages(placement, graph, assignment);
  if (!division.ok()) require(division.status().at(options.placement));

  Simulator simulator(problem);
  const Timeline& timeline = simulator.run(assignment, *division);
  std::string doubt = tuned_graph(options.placement, options.graph);
  if (!doubt.empty()) {
    note(doubt);
  } else {
    doubt = note_unlike_recorded(placement, options.placement, graph, options.engine, options.model,
                                 timeline.makespan_us);
  }
  LowerBounds bounds = lower_bounds(problem);
  const auto found = violations(problem, assignment, timeline);
  RecordedProof proof;
  if (found.empty()) proof = proof_of(placement, problem, timeline);
  const bool is_recorded = tells_more(proof, bounds);
  if (is_recorded) bounds.proved_us = proof.bound_us;
  const Advice advice = advise(problem, assignment, timeline, kAdviceWork);
  if (options.common.json) {
    Json object = describe(problem, assignment, timeline, bounds, found, advice);
    object["lower_bound_recorded"] = is_recorded;
    object["proved"] = proof.proved;
    std::string numbers = note_on_numbers(graph, topology);
    add_note(doubt, numbers);
    object["note"] = numbers;
    print_json(object);
  } else {
    print(summary(problem, assignment, timeline, bounds, found, advice));
    if (is_recorded) print("\n" + fitted(proof_text(proof, options.placement) + "\n"));
  }
  OutputFiles files;
  ReportPlacement shown;
  shown.method = placement.method;
  shown.assignment = assignment;
  shown.proved = proof.proved;
  if (is_recorded) shown.bound_file = options.placement;
  add_reports(files, options.reports, problem, bounds, timeline, std::move(shown));
  files.write();
}

}  // namespace

void add_simulate(Program& program) {
  Command& command = program.add("simulate", "Predict the run of a placement");
  auto options = std::make_shared<SimulateOptions>();
  command.argument("GRAPH", options->graph, "Graph file, or ONNX model").required();
  add_topology(command, options->topology).required();
  command.option("-p,--placement", "FILE", options->placement, "Placement file").required();
  add_recorded_engine(command, options->engine);
  add_reports(command, options->reports);
  add_common(command, options->common);
  add_model_options(command, options->model);
  command.footer(kSimulateExamples);
  command.action([options] { run_simulate(*options); });
}

}  // namespace placeto::cli
