// placeto run: a split model on real workers, what was predicted beside what was measured.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <functional>
#include <memory>
#include <set>

#include "runtime/format/file.h"
#include "runtime/graph/text.h"
#include "tools/cli/by_device.h"
#include "tools/cli/commands.h"
#include "tools/cli/common.h"
#include "tools/cli/files.h"
#include "tools/cli/foreign_model.h"
#include "tools/cli/given_inputs.h"
#include "tools/cli/graph_input.h"
#include "tools/cli/run_outcome.h"
#include "tools/costs/statistics.h"
#include "tools/engine/compare_outputs.h"
#include "tools/engine/cores.h"
#include "tools/engine/manifest_dims.h"
#include "tools/engine/measure_run.h"
#include "tools/engine/model_inputs.h"
#include "tools/engine/runner.h"
#include "tools/engine/tuned_choice.h"
#include "tools/engine/written_files.h"
#include "tools/report/run_page.h"
#include "tools/report/status_line.h"

namespace placeto::cli {
namespace {

constexpr const char* kRunExamples = R"(Examples:
  placeto run net.stages --model net.onnx --check --report run.html
  placeto run net.stages --runs 100 --mode stream --in-flight 4 --json
  placeto run net.onnx --threads 2 --dim batch=1 --input mask=1 --input pixels=photo.npy

One worker thread per device of the manifest runs that device's stages; sessions share the memory of
what passes between them. A directory that tune wrote runs with the providers, threads
and replicas that it chose. The whole model runs on one thread beside every run, because processors
change their speed: compare what is printed over it. It is found by --model, in the directory of the
stages, or beside it. Inputs that are not given are the same numbers on every run.)";

struct RunOptions {
  Common common;
  std::string plan, model, profile, report;
  std::string mode = "both";
  std::vector<std::string> dims, inputs, providers, holds;
  uint32_t runs = 30, threads = 0, replicas = 0, in_flight = 0;  // 0: not given
  bool check = false;
  double tolerance = -1;  // not given
};

// The path of the whole model; "" if it is not to be found.
std::string whole_file(const RunOptions& options, const Manifest& manifest,
                       const std::string& directory) {
  namespace fs = std::filesystem;
  if (!options.model.empty()) {
    std::string file = readable_path(options.model);
    refuse_foreign_model(file);
    return file;
  }
  std::error_code error;
  for (const fs::path& folder : {fs::path(directory), fs::path(directory) / ".."}) {
    const fs::path file = folder / manifest.model;
    if (!manifest.model.empty() && fs::is_regular_file(file, error)) return file.string();
  }
  return "";
}

struct RunJob {
  RunOptions options;
  RunOutcome outcome;                             // filled as things become known
  std::vector<std::unique_ptr<Runner>> replicas;  // the first runs single requests, too
  std::unique_ptr<StagedModel> whole;             // may be absent
};

std::vector<DimSetting> given_dims(const RunOptions& options) {
  std::vector<DimSetting> dims;
  for (const std::string& text : options.dims) dims.push_back(dim_setting(text));
  return dims;
}

// What axes of inputs are called that have no number.
std::vector<std::string> free_names(const Manifest& manifest) {
  std::vector<std::string> names;
  for (const TensorInfo& input : manifest.declared) {
    for (const std::string& symbol : input.symbols) {
      if (!symbol.empty()) names.push_back(symbol);
    }
  }
  return names;
}

// That the stages, or else the model, have such dimensions, or had them when they were placed.
void check_dims(const RunOptions& options, const Manifest& manifest,
                const std::vector<DimSetting>& dims) {
  if (dims.empty()) return;
  if (is_whole(manifest)) {
    return require(check_dimensions(input_path(options.plan), {dims, {}, {}}));
  }
  const ManifestDims free(manifest);
  for (const DimSetting& dim : dims) {
    if (free.takes(dim)) continue;
    throw Failure(kBadUsage, fmt::format("--dim '{}': {} has no such free dimension{}", dim.name,
                                         options.plan, suggestion(dim.name, free_names(manifest))));
  }
}

std::set<uint32_t> devices_used(const Manifest& manifest) {
  std::set<uint32_t> used;
  for (const ManifestStage& stage : manifest.stages) used.insert(stage.device);
  return used;
}

// As the caller says, else as tune chose, where it wrote the directory.
RunChoice choice_of(const RunOptions& options, const Manifest& manifest,
                    const std::string& directory) {
  const DeviceNames devices{manifest.devices};
  RunChoice choice{.threads = options.threads,
                   .replicas = options.replicas,
                   .providers = by_device(devices, options.providers, "--provider")};
  require(complete_choice(manifest, directory, choice));
  const std::set<uint32_t> used = devices_used(manifest);
  for (uint32_t d = 0; d < choice.providers.size(); ++d) {
    if (!used.contains(d) && choice.providers[d].empty()) choice.providers[d] = "cpu";
  }
  complete_providers(devices, choice.providers);
  if (options.replicas == 0) {  // tune chose them for a machine that has more cores, perhaps
    choice.replicas = std::min(choice.replicas, std::max(1u, usable_cores()));
  }
  return choice;
}

// What only a stream takes.
void check_mode(const RunOptions& options) {
  if (options.mode != "latency") return;
  for (const auto& [name, value] :
       {std::pair("--in-flight", options.in_flight), {"--replicas", options.replicas}}) {
    if (value != 0) throw Failure(kBadUsage, fmt::format("{}: --mode latency has no stream", name));
  }
}

// What was predicted is of the numbers that the stages were placed with.
void forget_predictions(Manifest& manifest, const std::vector<DimSetting>& dims) {
  std::set<std::pair<std::string_view, uint64_t>> by_name;
  std::set<uint64_t> of_any;  // of what may stand for any name
  for (const DimSetting& dim : dims) {
    by_name.emplace(dim.name, dim.value);
    if (dim.name == "*" || dim.name.ends_with(']')) of_any.insert(dim.value);
  }
  std::string other;
  for (const DimSetting& placed : manifest.dims) {
    const bool same =
        of_any.contains(placed.value) || by_name.contains({placed.name, placed.value});
    if (!same) other += (other.empty() ? "" : ", ") + dim_text(placed);
  }
  if (other.empty()) return;
  if (manifest.predicted_makespan_us > 0) {
    note("what is predicted is of " + other + ", and is not shown");
  }
  manifest.predicted_makespan_us = manifest.predicted_whole_us = 0;
  for (ManifestStage& stage : manifest.stages) {
    stage.predicted_us = stage.predicted_start_us = 0;
  }
}

// And what it says of the whole run.
SessionSettings decide_sessions(const RunOptions& options, RunOutcome& outcome) {
  const Manifest& manifest = outcome.manifest;
  const std::vector<DimSetting> dims = given_dims(options);
  check_dims(options, manifest, dims);
  RunChoice choice = choice_of(options, manifest, outcome.directory);
  SessionSettings settings;
  settings.threads = choice.threads;
  settings.providers = std::move(choice.providers);
  settings.dims = ManifestDims(manifest).with(dims);
  forget_predictions(outcome.manifest, settings.dims);
  settings.slots = options.in_flight;
  if (options.mode == "latency") settings.slots = 1;
  if (settings.slots == 0)
    settings.slots =
        busy_slots(static_cast<uint32_t>(devices_used(manifest).size()), choice.replicas);
  outcome.providers = settings.providers;
  outcome.chosen = choice.tuned;
  outcome.threads = settings.threads;
  outcome.replicas = choice.replicas;
  outcome.slots = settings.slots;
  outcome.dims = settings.dims;
  return settings;
}

void fill(StagedModel& model, const RunOptions& options, const Manifest& manifest) {
  std::vector<GivenInput> given;
  for (const std::string& text : options.inputs) {
    given.push_back(given_input(text));
    for (const InputSetting& set : manifest.set) {
      if (set.name != given.back().name) continue;
      throw Failure(kBadUsage, fmt::format("--input '{}': the stages were made with --set {}=..., "
                                           "so it is no input any more",
                                           text, set.name));
    }
  }
  require(fill_model_inputs(model, given));
}

// "; its inputs 'ids', 'mask' were made up (--input)": why the engine may have refused to run.
std::string made_up(const StagedModel& model, const RunOptions& options) {
  constexpr size_t kShown = 5;
  std::vector<std::string> names;
  for (const TensorInfo& input : model.inputs()) {
    const auto gives = [&](const std::string& text) { return text.starts_with(input.name + "="); };
    if (std::ranges::none_of(options.inputs, gives)) names.push_back(in_quotes(input.name));
  }
  if (names.empty()) return "";
  if (names.size() > kShown) {
    names.resize(kShown);
    names.emplace_back("...");
  }
  return fmt::format("; its input{} {} {} made up (--input)", names.size() == 1 ? "" : "s",
                     fmt::join(names, ", "), names.size() == 1 ? "was" : "were");
}

// The first writes profiles, if any does.
std::unique_ptr<Runner> open_replica(const RunJob& job, const SessionSettings& settings) {
  const Manifest& manifest = job.outcome.manifest;
  const WorkerOptions workers{
      .share = shares_by_device({manifest.devices}, job.options.holds, "--hold")};
  auto runner = require(Runner::open(manifest, job.outcome.directory, settings, workers));
  fill(runner->model(), job.options, runner->manifest());
  const Status started = runner->start();
  if (!started.ok()) {
    require(Status{started.code(), started.message() + made_up(runner->model(), job.options)});
  }
  return runner;
}

void open_whole(RunJob& job) {
  const RunOptions& options = job.options;
  const Manifest& manifest = job.outcome.manifest;
  const std::string file = whole_file(options, manifest, job.outcome.directory);
  if (file.empty()) {
    if (!options.check) return;
    throw Failure(kBadUsage,
                  "--check compares with the whole model, which is not beside the "
                  "stages: --model MODEL.onnx");
  }
  note_model(file);
  SessionSettings alone;
  alone.dims = dims_of_whole(job.outcome.dims, manifest.set);
  const std::filesystem::path path(file);
  const std::string folder = path.has_parent_path() ? path.parent_path().string() : ".";
  job.whole =
      require(StagedModel::open(whole_model(path.filename().string(), "cpu:0"), folder, alone));
  if (options.check) {
    job.outcome.rounds_to_steps = rounds_to_steps(file);
    require(check_same_outputs(job.replicas.front()->model(), *job.whole).at(file));
  }
  fill(*job.whole, options, manifest);
  require(fill_set_inputs(*job.whole, manifest.set).at(file));
  require(job.whole->prepare());
}

// What is read in the directory: the stages, or the one model, and what belongs to them.
void note_files(const RunOutcome& outcome) {
  const std::filesystem::path folder = outcome.directory;
  for (const char* name : {"manifest.json", "tune.json"}) note_input((folder / name).string());
  for (const ManifestStage& stage : outcome.manifest.stages) {
    note_model((folder / stage.file).string());
  }
}

RunJob open(const RunOptions& options) {
  const std::string plan = input_path(options.plan);
  if (plan != options.plan && holds_json(plan)) fail_without_stages();
  refuse_foreign_model(plan);
  refuse_own_file(plan, "a directory of stages, its manifest, or an ONNX model");
  RunJob job{options, {}, {}, nullptr};
  RunOutcome& outcome = job.outcome;
  outcome.plan = options.plan;
  outcome.runs = options.runs;
  outcome.manifest = require(manifest_of(plan, outcome.directory));
  note_files(outcome);
  SessionSettings settings = decide_sessions(options, outcome);
  settings.profile_prefix = options.profile;
  job.replicas.push_back(open_replica(job, settings));
  outcome.manifest = job.replicas.front()->manifest();
  settings.profile_prefix.clear();
  while (options.mode != "latency" && job.replicas.size() < outcome.replicas) {
    job.replicas.push_back(open_replica(job, settings));
  }
  open_whole(job);
  return job;
}

// "running, 40%, 3 s left", a few times a second: more often would be felt by what is measured.
class RunningLine {
 public:
  explicit RunningLine(const char* what) : what_(what) { line_.show(what_ + " ..."); }
  void operator()(double share) {
    using Clock = std::chrono::steady_clock;
    constexpr auto kFirst = std::chrono::seconds(1), kEvery = std::chrono::seconds(1) / 4;
    const auto now = Clock::now();
    if (now - begin_ < kFirst || now - shown_ < kEvery || !(share > 0)) return;
    shown_ = now;
    const std::chrono::duration<double, std::milli> spent = now - begin_;
    line_.show(fmt::format("{}, {:.0f}%, {} left", what_, 100 * share,
                           rough_time(spent.count() * (1 / share - 1))));
  }

 private:
  const std::string what_;
  StatusLine line_;
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now(), shown_ = begin_;
};

void compare(RunJob& job, const StagedModel& model) {
  auto deviations = require(output_deviations(model, require(keep_outputs(*job.whole))));
  for (OutputDeviation& output : deviations) {
    if (job.options.tolerance >= 0) output.tolerance = job.options.tolerance;
  }
  job.outcome.deviation = worst_of(deviations);
}

void measure(RunJob& job) {
  constexpr uint32_t kWarmUps = 3, kBatches = 3, kForBatches = 5;
  const uint32_t runs = job.options.runs;
  RunOutcome& outcome = job.outcome;
  if (job.options.mode == "stream") outcome.runs = std::min(runs, kForBatches);
  Runner& first = *job.replicas.front();
  {
    RunningLine line("running one request at a time");
    require(wake_devices(first.model()));
    outcome.latency = require(measure_latency(first.workers(), job.whole.get(),
                                              static_cast<uint32_t>(outcome.runs),
                                              std::min(runs, kWarmUps), std::ref(line)));
  }
  if (job.options.check) compare(job, first.model());
  if (job.options.mode != "latency") {
    std::vector<Workers*> workers;
    for (const auto& replica : job.replicas) workers.push_back(&replica->workers());
    const auto in_flight = static_cast<uint32_t>(workers.size()) * outcome.slots;
    const uint32_t requests = requests_of_batch(in_flight, median(outcome.latency.latency_us));
    // As many requests as runs, or three batches, of few runs fewer.
    const uint32_t batches = std::max(std::min(runs, kBatches), runs / requests);
    RunningLine line("running a stream of requests");
    outcome.stream =
        require(measure_stream(workers, job.whole.get(), batches, requests, std::ref(line)));
  }
  if (!job.options.profile.empty()) {
    outcome.profiles = require(first.model().end_profiling());
    require(check_profiles(outcome.profiles), kInternalError);
  }
  outcome.bound_memory = first.model().all_bound();
  outcome.cuts = cuts_of(first);
}

void run_run(const RunOptions& options) {
  // The engine adds the time to the names of its profiles.
  const std::string& prefix = options.profile;
  check_mode(options);
  check_outputs({options.report, prefix.empty() ? "" : prefix + "_stage_0.json"});
  RunJob job = open(options);
  measure(job);
  const RunOutcome outcome = std::move(job.outcome);
  const std::string problem = deviation_problem(outcome);
  if (options.common.json) {
    Json report = json_of_run(outcome);
    if (!problem.empty()) {  // as of every failure
      report["error"] = problem;
      report["status"] = "deviates";
      report["exit_status"] = int{kNoFeasiblePlacement};
    }
    print_json(report);
  } else {
    print(text_of_run(outcome));
  }
  if (!options.report.empty()) {
    const std::string page = run_page(report_of_run(outcome));
    job.replicas.clear();  // their threads would take the signals that wait for the file
    job.whole.reset();
    write_text(options.report, page);
  }
  if (problem.empty()) return;
  print_due();
  throw Failure(kNoFeasiblePlacement, problem);
}

}  // namespace

void add_run(Program& program) {
  Command& command = program.add("run", "Run a split model and measure it");
  auto options = std::make_shared<RunOptions>();
  command.argument("DIR", options->plan, "Directory of export --split, its manifest, or a model")
      .required();
  command.option("--model", "MODEL", options->model, "The whole model, to compare with");
  command.count("--runs", options->runs,
                "Requests that count; of a stream so many, too, in batches of at least three for "
                "each in flight",
                1, 1'000'000);
  command
      .option("--mode", "latency|stream|both", options->mode,
              "One request at a time, several in flight (after few single ones, which tell how "
              "many make a batch), or both")
      .one_of({"latency", "stream", "both"});
  command.count("--in-flight", options->in_flight,
                "Requests in flight in each replica; if absent one more than devices, of one "
                "device without replicas one",
                1, 1024);
  command.count("--threads", options->threads,
                "Threads of each session; if absent what tune chose, or else one", 1, 1024);
  command.count(
      "--replicas", options->replicas,
      "Copies of all sessions that share a stream; if absent what tune chose, or else one", 1, 64);
  add_provider(command, options->providers, "what tune chose, or else cpu");
  add_hold(command, options->holds);
  command.list("--dim", "NAME=N", options->dims,
               "A number for a free dimension (batch=4); if absent what it was placed with");
  add_inputs(command, options->inputs);
  command.flag("--check", options->check,
               "Compare the outputs with the whole model's; exit status 1 if they deviate");
  command
      .number("--tolerance", options->tolerance,
              "The largest |a - b| / (1 + |b|) of outputs that do not deviate; if absent by the "
              "types of elements, 0.001 for float",
              0, 1e9)
      .only_with("--check");
  command
      .option("--write-profiles", "PREFIX", options->profile,
              "Let the engine write profiles, per stage")
      .writes();
  command
      .option("--report", "HTML", options->report,
              "Page with the measured timeline above the predicted one")
      .writes();
  add_common(command, options->common);
  command.footer(kRunExamples);
  command.action([options] { run_run(*options); });
}

}  // namespace placeto::cli
