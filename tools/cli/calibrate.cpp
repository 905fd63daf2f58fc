// placeto calibrate: what a kind of device reaches, from measured run times.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <system_error>
#include <vector>

#include "tools/cli/commands.h"
#include "tools/cli/common.h"
#include "tools/cli/files.h"
#include "tools/cli/graph_input.h"
#include "tools/cli/topologies.h"
#include "tools/costs/calibrate.h"
#include "tools/costs/efficiency_file.h"
#include "tools/io/read.h"
#include "tools/report/time_sources.h"

namespace placeto::cli {
namespace {

constexpr const char* kCalibrateExamples = R"(Examples:
  placeto import a.onnx --profile cpu=a-profile.json -o a.json
  placeto import b.onnx --profile cpu=b-profile.json -o b.json
  placeto calibrate a.json b.json --kind cpu -o cpu.json
  placeto calibrate a.json b.json --kind cpu --topology host.json -o cpu.json
  placeto calibrate model.onnx --profile cpu=profile.json --kind cpu -o cpu.json
  placeto import c.onnx --efficiencies cpu.json -o c.json

The shares in the file refer to the device's peak rates: those given, else those of the first device
of the kind in the topology, or else the highest that the measurements show.)";

struct CalibrateOptions {
  Common common;
  ModelOptions model;
  std::vector<std::string> graphs;
  std::string kind, topology, device, out;
  double peak_flops = 0, memory_bandwidth = 0;
};

// Errors on one graph: by the rule that holds without a file, by the rows fitted to all graphs, and
// by rows fitted to all but this one (none if there is no other).
struct Row {
  std::string graph;
  FitError before, after, left_out;
};

void check_rates(const CalibrateOptions& options) {
  if (options.topology.empty() || options.peak_flops == 0 || options.memory_bandwidth == 0) return;
  throw Failure(kBadUsage,
                "--topology: says the peak rates of the kind, and --peak-flops and "
                "--memory-bandwidth say both of them; expected the one or the other");
}

// Each file once: left out of a fit, it must not be in it by another name.
std::vector<std::string> unlike_graphs(const std::vector<std::string>& given) {
  std::vector<std::string> graphs;
  std::set<std::string> seen;
  for (const std::string& path : given) {
    std::error_code error;
    if (seen.insert(std::filesystem::weakly_canonical(path, error).string()).second) {
      graphs.push_back(path);
    } else {
      note(as_given(path + ": is given twice, and is used once"));
    }
  }
  return graphs;
}

// What the topology says of the kind, if one is given.
std::optional<PeakRates> stated_peaks(const CalibrateOptions& options) {
  if (options.topology.empty()) return std::nullopt;
  const Topology topology = load_topology(options.topology);
  const auto& devices = topology.spec().devices;
  const auto device = std::find_if(devices.begin(), devices.end(), [&](const DeviceSpec& d) {
    return d.kind == options.kind && d.peak_flops > 0 && d.memory_bandwidth > 0;
  });
  if (device == devices.end()) {
    throw Failure(kBadInputFile, fmt::format("{}: has no device of kind '{}' with peak_flops and "
                                             "memory_bandwidth, expected one",
                                             options.topology, options.kind));
  }
  return PeakRates{device->peak_flops, device->memory_bandwidth};
}

PeakRates choose_peaks(const CalibrateOptions& options, const std::optional<PeakRates>& stated,
                       std::span<const Sample> samples) {
  PeakRates peaks = stated ? *stated : observed_peaks(samples);
  if (options.peak_flops > 0) peaks.flops = options.peak_flops;
  if (options.memory_bandwidth > 0) peaks.bandwidth = options.memory_bandwidth;
  return peaks;
}

std::vector<Sample> all_but(const std::vector<std::vector<Sample>>& samples, size_t left_out) {
  std::vector<Sample> rest;
  for (size_t i = 0; i < samples.size(); ++i) {
    if (i != left_out) rest.insert(rest.end(), samples[i].begin(), samples[i].end());
  }
  return rest;
}

Json describe(const FitError& error) {
  return {{"predicted_us", error.predicted_us},
          {"median_factor", error.median_factor},
          {"within_two", error.within_two},
          {"weighted_error", error.weighted_error}};
}

Json describe(const std::vector<Row>& rows, const Efficiencies& fitted, const std::string& out) {
  Json graphs = Json::array();
  for (const Row& row : rows) {
    Json entry = {{"graph", row.graph},
                  {"nodes", row.before.nodes},
                  {"measured_us", row.before.measured_us},
                  {"before", describe(row.before)},
                  {"after", describe(row.after)}};
    if (row.left_out.nodes > 0) entry["left_out"] = describe(row.left_out);
    graphs.push_back(std::move(entry));
  }
  return {{"kind", fitted.kind},
          {"file", out},
          {"peak_flops", fitted.peak_flops},
          {"memory_bandwidth", fitted.memory_bandwidth},
          {"graphs", std::move(graphs)}};
}

std::string ratio(const FitError& error) {
  if (error.nodes == 0) return "";
  return fmt::format("{:.2f}", error.predicted_us / error.measured_us);
}

std::string factor(const FitError& error) {
  return error.nodes == 0 ? "" : fmt::format("{:.2f}", error.median_factor);
}

std::string share(const FitError& error) {
  return error.nodes == 0 ? "" : fmt::format("{:.0f}%", 100 * error.within_two);
}

std::string report(const std::vector<Row>& rows) {
  Table table({{"graph", Align::kLeft},
               {"measured", Align::kRight},
               {"before", Align::kRight},
               {"factor", Align::kRight},
               {"in 2x", Align::kRight},
               {"fitted", Align::kRight},
               {"factor", Align::kRight},
               {"in 2x", Align::kRight},
               {"left out", Align::kRight},
               {"factor", Align::kRight},
               {"in 2x", Align::kRight}});
  for (const Row& row : rows) {
    table.add_row({printable(row.graph), format_us(row.before.measured_us), ratio(row.before),
                   factor(row.before), share(row.before), ratio(row.after), factor(row.after),
                   share(row.after), ratio(row.left_out), factor(row.left_out),
                   share(row.left_out)});
  }
  return table.render() +
         "\nbefore: the rule without a file; fitted: to all graphs; left out: to all but this one."
         "\nEach: predicted over measured total; median factor between a node's prediction and its"
         "\nmeasurement; share of nodes within a factor of 2.\n";
}

// A fit to estimates would be a fit to the rates that made them.
void check_measured(const CostSources& costs) {
  if (costs.efficiencies.empty() || !costs.profiles.empty() || !costs.tables.empty()) return;
  throw Failure(kBadUsage,
                "--efficiencies: gives estimates alone, expected measured run times: --profile or "
                "--costs");
}

std::vector<Sample> measured_samples(const CalibrateOptions& options, const std::string& path) {
  const Graph graph = load_graph(path, options.model);
  auto samples = samples_of(graph, options.kind);
  if (!samples.ok()) require(samples.status().at(path));
  if (!TimeSources(graph).any_measured()) {
    note(as_given(path +
                  ": does not say which run times were measured, so that all are taken to be"));
  }
  return *std::move(samples);
}

void run_calibrate(const CalibrateOptions& options) {
  check_outputs({options.out});
  check_rates(options);
  check_measured(options.model.costs);
  const std::vector<std::string> graphs = unlike_graphs(options.graphs);
  const std::optional<PeakRates> stated = stated_peaks(options);
  std::vector<std::vector<Sample>> samples;
  for (const std::string& path : graphs) {
    samples.push_back(measured_samples(options, path));
  }
  const std::vector<Sample> all = all_but(samples, samples.size());
  const PeakRates peaks = choose_peaks(options, stated, all);
  const auto before = default_efficiencies(options.kind, peaks.flops, peaks.bandwidth);
  Efficiencies fitted = fit_efficiencies(all, options.kind, peaks);
  fitted.device = options.device;
  std::vector<Row> rows;
  for (size_t i = 0; i < samples.size(); ++i) {
    rows.push_back({graphs[i], error_of(samples[i], before), error_of(samples[i], fitted), {}});
    if (samples.size() < 2) continue;
    const auto others = fit_efficiencies(all_but(samples, i), options.kind, peaks);
    rows.back().left_out = error_of(samples[i], others);
  }
  if (options.common.json) {
    print_json(describe(rows, fitted, options.out));
  } else {
    print(report(rows));
  }
  write_text(options.out, efficiencies_to_json(fitted));
}

}  // namespace

void add_calibrate(Program& program) {
  Command& command = program.add("calibrate", "Fit the estimates of run times to measured ones");
  auto options = std::make_shared<CalibrateOptions>();
  command
      .arguments("GRAPH", options->graphs,
                 "Graphs with measured run times, or ONNX models with --profile or --costs")
      .required();
  command.option("--kind", "KIND", options->kind, "Kind of device to fit")
      .required()
      .proposes_words({});
  command.option("-o,--output", "FILE", options->out, "Efficiency file to write")
      .required()
      .writes();
  add_topology(command, options->topology).help += ", with the peak rates of the kind";
  command.rate("--peak-flops", options->peak_flops, "Peak operations per second (312T)", 1e21);
  command.rate("--memory-bandwidth", options->memory_bandwidth, "Peak bytes per second (240GB)",
               1e18);
  command.option("--device", "TEXT", options->device, "What was measured, in words, for the file")
      .proposes_words({});
  add_common(command, options->common);
  add_model_options(command, options->model);
  command.footer(kCalibrateExamples);
  command.action([options] { run_calibrate(*options); });
}

}  // namespace placeto::cli
