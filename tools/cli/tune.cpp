// placeto tune: from a model to the fastest way to run it that was measured.
#include "tools/tune/tune.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <memory>

#include "tools/cli/by_device.h"
#include "tools/cli/commands.h"
#include "tools/cli/common.h"
#include "tools/cli/foreign_model.h"
#include "tools/cli/given_inputs.h"
#include "tools/cli/graph_input.h"
#include "tools/cli/methods.h"
#include "tools/cli/rules.h"
#include "tools/cli/run_outcome.h"
#include "tools/cli/topologies.h"
#include "tools/io/interruption.h"

namespace placeto::cli {
namespace {

constexpr const char* kTuneExamples = R"(Examples:
  placeto detect --workers 2 | placeto measure - -o host.json
  placeto tune net.onnx -t host.json -o net.tuned --dim batch=1
  placeto run net.tuned --model net.tuned/model.onnx --check
  cd net.tuned && placeto simulate graph.bin -t machine.json -p placement.json --engine none

The directory holds the model as the engine optimises it, the stages that won and their manifest,
placement.json, graph.bin and machine.json with the run times and prices that were measured, and
tune.json with how everything ran and why the winner is handed out.
Where one device is fastest, or the engine with more threads, that is the answer. Measurements within
2% of the fastest count as equal: of those, the way with the fewest stages, devices, replicas and
threads is handed out. Times over one thread are medians of pairs: a run, and the whole model on one
thread right beside it.)";

struct TuneSettings {
  Common common;
  std::string model, topology, out;
  std::string policy = kDefaultPolicy;
  std::vector<std::string> dims, values, inputs, providers, holds;
  TuneOptions tuning;  // the objective and the numbers; the rest follows from the texts
};

// A device that is held computes that much slower, in the run and in the cost model.
std::vector<double> hold(const TuneSettings& options, TopologySpec& machine) {
  const std::vector<double> shares =
      shares_by_device(device_names(machine), options.holds, "--hold");
  for (size_t d = 0; d < shares.size(); ++d) machine.devices[d].slowdown /= shares[d];
  return shares;
}

void print_result(const TuneSettings& options, const TuneResult& result) {
  if (options.common.json) {
    Json contenders = Json::array();
    for (const Contender& c : result.contenders) contenders.push_back(described(c));
    return print_json({{"directory", options.out},
                       {"chosen", result.chosen},
                       {"why", result.why},
                       {"rounds", result.rounds},
                       {"whole_us", result.whole_us},
                       {"notes", result.notes},
                       {"contenders", std::move(contenders)}});
  }
  std::vector<Table::Column> columns{{""},
                                     {"way"},
                                     {"measured", Align::kRight},
                                     {"over one thread", Align::kRight},
                                     {"predicted over it", Align::kRight}};
  const auto deviates = [](const Contender& c) { return c.deviates(); };
  if (std::ranges::any_of(result.contenders, deviates)) columns.push_back({"outputs"});
  Table table(columns);
  for (size_t i = 0; i < result.contenders.size(); ++i) {
    const Contender& c = result.contenders[i];
    table.add_row({i == result.chosen ? "*" : "", c.name, format_us(c.measured_us),
                   fmt::format("{:.3f}", c.over_whole),
                   c.predicted_us > 0 ? fmt::format("{:.3f}", c.predicted_over_whole) : "-",
                   !c.output      ? "-"
                   : c.deviates() ? "deviate"
                                  : "the same"},
                  i == result.chosen ? Emphasis::kStrong : Emphasis::kNone);
  }
  std::string text = table.render() + "\n" + fitted(result.why + "\n") +
                     fitted(fmt::format("times over one thread {}\n", kRatiosAre));
  for (const std::string& note : result.notes) text += fitted("note: " + printable(note) + "\n");
  print(text);
}

// That the folder of the new directory is there, which else is found out late.
void check_new_directory(const std::string& path) {
  namespace fs = std::filesystem;
  fs::path target = path;
  if (target.filename().empty()) target = target.parent_path();  // "out/"
  std::error_code error;
  if (fs::is_symlink(target, error)) return;  // it goes where the link leads
  const fs::path folder = target.has_parent_path() ? target.parent_path() : fs::path(".");
  if (access((folder / ".").c_str(), W_OK | X_OK) == 0) return;
  throw Failure(kInternalError, fmt::format("{}: cannot write there: {}: {}", path, folder.string(),
                                            std::strerror(errno)));
}

void run_tune(const TuneSettings& options) {
  if (options.out == "-") throw Failure(kBadUsage, "--output -: expected a new directory");
  check_new_directory(options.out);
  TopologySpec machine = load_topology(options.topology).spec();
  TuneOptions tuning = options.tuning;
  tuning.share = hold(options, machine);
  const DeviceNames devices = device_names(machine);
  tuning.providers = by_device(devices, options.providers, "--provider");
  complete_providers(devices, tuning.providers);
  tuning.model = readable_path(options.model);
  refuse_foreign_model(tuning.model);
  refuse_own_file(tuning.model, "an ONNX model");
  tuning.directory = options.out;
  for (const std::string& dim : options.dims) {
    tuning.dims.push_back(dim_setting(dim));
  }
  for (const std::string& text : options.values) {
    tuning.set.push_back(require(parse_input_setting(text)));
  }
  for (const std::string& text : options.inputs) tuning.inputs.push_back(given_input(text));
  const auto policy = load_policy(options.policy);
  tuning.policy = policy.get();
  if (!options.common.json && isatty(STDERR_FILENO) != 0) {
    tuning.progress = [](const std::string& text) { say(text); };
  }
  const Topology topology = require(Topology::build(machine));
  const Interruption interruption;
  tuning.interrupted = interruption.flag();
  const Result<TuneResult> result = tune(topology, tuning);
  Interruption::obey();
  print_result(options,
               require(result, kInternalError));  // what it reads can be read, or is bad input
}

}  // namespace

void add_tune(Program& program) {
  Command& command = program.add("tune", "Find the fastest way to run a model, by measuring");
  auto options = std::make_shared<TuneSettings>();
  command.argument("MODEL", options->model, "ONNX model").required();
  add_topology(command, options->topology).required();
  command.option("-o,--output", "DIR", options->out, "New directory for what is handed out")
      .required()
      .writes();
  add_objective(command, options->tuning.objective,
                "The time of one request, or requests per time");
  add_dim(command, options->dims);
  add_set(command, options->values);
  add_inputs(command, options->inputs);
  add_provider(command, options->providers, "cpu");
  add_hold(command, options->holds);
  command.count("--threads", options->tuning.threads, "Threads of each session of a placed model",
                1, 1024);
  command.count("--finalists", options->tuning.finalists, "Placements that run in each round", 1,
                100);
  command.count("--rounds", options->tuning.rounds, "Rounds at most", 1, 100);
  command.count("--runs", options->tuning.runs, "Runs of each placement", 3, 100'000);
  command.number("--tolerance", options->tuning.output_tolerance,
                 "The largest |a - b| / (1 + |b|) of outputs of what is handed out, against the "
                 "model's; if absent by the types of elements, 0.001 for float",
                 0, 1e9);
  command.count("--budget-evals", options->tuning.evaluations,
                "Evaluations of the search, in each round", 0, 1'000'000'000);
  add_policy_option(command, options->policy);
  add_common(command, options->common);
  command.footer(kTuneExamples);
  command.action([options] { run_tune(*options); });
}

}  // namespace placeto::cli
