// placeto run: a split model on real workers, what was predicted beside what was measured.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <functional>
#include <memory>

#include "runtime/format/file.h"
#include "tools/cli/by_device.h"
#include "tools/cli/commands.h"
#include "tools/cli/common.h"
#include "tools/cli/foreign_model.h"
#include "tools/cli/graph_input.h"
#include "tools/engine/measure_run.h"
#include "tools/engine/runner.h"
#include "tools/engine/statistics.h"
#include "tools/report/run_page.h"

namespace placeto::cli {
namespace {

constexpr const char* kRunExamples = R"(Examples:
  placeto run net.stages --model net.onnx --check --report run.html
  placeto run net.stages --runs 100 --mode stream --in-flight 4 --json
  placeto run net.onnx --threads 2 --dim batch=1 --input mask=1 --input pixels=photo.npy

One worker thread per device of the manifest runs that device's stages; sessions share the memory of
what passes between them. The whole model runs on one thread beside every run, because processors
change their speed: compare what is printed over it. It is found by --model, in the directory of the
stages, or beside it. Inputs that are not given are the same numbers on every run.)";

struct RunOptions {
  Common common;
  std::string plan, model, profile, report;
  std::string mode = "both";
  std::vector<std::string> dims, inputs, providers, holds;
  uint64_t runs = 30, threads = 1, in_flight = 0;
  bool check = false;
};

// Of the whole model; "" if it is not to be found.
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

struct Measured {
  LatencyRuns latency;
  StreamRuns stream;
  double deviation = -1;  // -1: not compared
  std::vector<std::string> profiles;
};

struct RunJob {
  RunOptions options;
  std::vector<DimSetting> dims;
  Manifest manifest;
  std::string directory;  // of the stages
  std::unique_ptr<Runner> runner;
  std::unique_ptr<StagedModel> whole;  // may be absent
};

// That the stages, or else the model, have such dimensions, or had them when they were placed.
void check_dims(const RunOptions& options, const Manifest& manifest) {
  std::vector<DimSetting> dims;
  for (const std::string& text : options.dims) dims.push_back(dim_setting(text));
  if (dims.empty()) return;
  if (manifest.outputs.empty()) {  // a whole model: its inputs are not known yet
    return require(check_dimensions(input_path(options.plan), dims));
  }
  for (const DimSetting& dim : dims) {
    const bool same = std::any_of(
        manifest.dims.begin(), manifest.dims.end(),
        [&](const DimSetting& d) { return d.name == dim.name && d.value == dim.value; });
    if (same || may_have_dim(manifest, dim.name)) continue;
    throw Failure(kBadUsage,
                  fmt::format("--dim '{}': {} has no such free dimension{}", dim.name, options.plan,
                              suggestion(dim.name, manifest.free_dims.names)));
  }
}

// What the caller says, and what was placed with where that leaves a number open.
std::vector<DimSetting> dims_of(const RunOptions& options, const Manifest& manifest) {
  std::vector<DimSetting> given;
  for (const std::string& dim : options.dims) given.push_back(dim_setting(dim));
  return merged_dims(manifest.dims, given, [&manifest](const std::string& place) {
    return name_of_axis(manifest, place);
  });
}

SessionSettings settings_of(const RunOptions& options, const Manifest& manifest) {
  SessionSettings settings;
  settings.threads = static_cast<uint32_t>(options.threads);
  settings.profile_prefix = options.profile;
  settings.providers = providers_by_device(manifest.devices, options.providers);
  settings.dims = dims_of(options, manifest);
  settings.slots = static_cast<uint32_t>(options.in_flight);
  if (options.mode == "latency") settings.slots = 1;
  if (settings.slots == 0) settings.slots = static_cast<uint32_t>(manifest.devices.size()) + 1;
  return settings;
}

void fill(StagedModel& model, const RunOptions& options, const Manifest& manifest) {
  std::vector<GivenInput> given;
  for (const std::string& text : options.inputs) {
    given.push_back(require(parse_given_input(text)));
    for (const InputSetting& set : manifest.set) {
      if (set.name != given.back().name) continue;
      throw Failure(kBadUsage, fmt::format("--input '{}': the stages were made with --set {}=..., "
                                           "so it is no input any more",
                                           text, set.name));
    }
    given.back().source = input_path(given.back().source);
  }
  require(fill_model_inputs(model, given));
}

RunJob open(const RunOptions& options) {
  const std::string plan = input_path(options.plan);
  if (plan != options.plan && holds_json(plan)) fail_without_stages();
  refuse_foreign_model(plan);
  RunJob job{options, {}, {}, "", nullptr, nullptr};
  std::string& directory = job.directory;
  job.manifest = require(manifest_of(plan, directory));
  check_dims(options, job.manifest);
  const SessionSettings settings = settings_of(options, job.manifest);
  job.dims = settings.dims;
  const WorkerOptions workers{.share =
                                  shares_by_device(job.manifest.devices, options.holds, "--hold")};
  job.runner = require(Runner::open(job.manifest, directory, settings, workers));
  job.manifest = job.runner->manifest();
  fill(job.runner->model(), options, job.manifest);
  require(job.runner->start());

  const std::string file = whole_file(options, job.manifest, directory);
  if (file.empty()) {
    if (!options.check) return job;
    throw Failure(kBadUsage,
                  "--check compares with the whole model, which is not beside the "
                  "stages: --model MODEL.onnx");
  }
  SessionSettings alone;
  alone.dims = settings.dims;
  const std::filesystem::path path(file);
  const std::string folder = path.has_parent_path() ? path.parent_path().string() : ".";
  job.whole =
      require(StagedModel::open(whole_model(path.filename().string(), "cpu:0"), folder, alone));
  if (options.check) require(check_same_outputs(job.runner->model(), *job.whole).at(file));
  fill(*job.whole, options, job.manifest);
  require(fill_set_inputs(*job.whole, job.manifest.set).at(file));
  require(job.whole->prepare());
  return job;
}

// "running, 40%, 3.1 s left", a few times a second: more often would be felt by what is measured.
class RunningLine {
 public:
  explicit RunningLine(const char* what) : what_(what) { line_.show(what_ + " ..."); }
  void operator()(double share) {
    using Clock = std::chrono::steady_clock;
    constexpr auto kFirst = std::chrono::seconds(1), kEvery = std::chrono::seconds(1) / 4;
    const auto now = Clock::now();
    if (now - begin_ < kFirst || now - shown_ < kEvery || !(share > 0)) return;
    shown_ = now;
    const std::chrono::duration<double, std::micro> spent = now - begin_;
    line_.show(fmt::format("{}, {:.0f}%, {} left", what_, 100 * share,
                           format_us(spent.count() * (1 / share - 1))));
  }

 private:
  const std::string what_;
  StatusLine line_;
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now(), shown_ = begin_;
};

// The engine does not say when it cannot write a profile.
void check_written(const std::vector<std::string>& profiles) {
  std::error_code error;
  for (const std::string& file : profiles) {
    if (std::filesystem::is_regular_file(file, error)) continue;
    throw Failure(kInternalError, file + ": the engine did not write this profile");
  }
}

Measured measure(RunJob& job) {
  const auto runs = static_cast<uint32_t>(job.options.runs);
  Measured measured;
  Workers& workers = job.runner->workers();
  {
    RunningLine line("running one request at a time");
    measured.latency = require(measure_latency(workers, job.whole.get(), runs, 3, std::ref(line)));
  }
  if (job.options.check) {
    measured.deviation = require(compare_outputs(job.runner->model(), *job.whole));
  }
  if (job.options.mode != "latency") {
    const uint32_t requests = std::max(8u, 2 * workers.slots());
    const uint32_t batches = std::max(3u, runs / requests);
    Workers* const only[] = {&workers};
    RunningLine line("running a stream of requests");
    measured.stream =
        require(measure_stream(only, job.whole.get(), batches, requests, std::ref(line)));
  }
  if (!job.options.profile.empty()) {
    measured.profiles = require(job.runner->model().end_profiling());
    check_written(measured.profiles);
  }
  return measured;
}

Json spread(const std::vector<double>& values) {
  return {{"median", median(values)},
          {"p10", percentile(values, 0.1)},
          {"p90", percentile(values, 0.9)}};
}

// A tensor that passes from one stage to others.
struct Cut {
  std::string name;
  uint32_t from, to;
  uint64_t bytes;
};

std::vector<Cut> cuts_of(RunJob& job) {
  std::vector<Cut> cuts;
  for (uint32_t s = 0; s < job.manifest.stages.size(); ++s) {
    for (const ManifestTensor& input : job.manifest.stages[s].inputs) {
      if (input.stage == kFromCaller) continue;
      cuts.push_back({input.name, input.stage, s, job.runner->model().tensor_bytes(input.name)});
    }
  }
  return cuts;
}

// The file, in the caller's words where he gave the model on standard input.
std::string shown_file(const RunJob& job, const ManifestStage& stage) {
  const std::string path = job.directory + "/" + stage.file, given = as_given(path);
  return given == path ? stage.file : given;
}

Json stages_json(const RunJob& job, const Measured& measured) {
  const size_t count = job.manifest.stages.size();
  const auto summary = summarize_stages(measured.latency, count);
  const auto handover = handover_us(job.manifest, measured.latency);
  const auto predicted_handover = predicted_handover_us(job.manifest);
  Json stages = Json::array();
  for (size_t s = 0; s < count; ++s) {
    const ManifestStage& stage = job.manifest.stages[s];
    Json object{{"file", shown_file(job, stage)},
                {"device", job.manifest.devices[stage.device]},
                {"start_us", summary[s].start_us},
                {"time_us", summary[s].time_us}};
    if (stage.predicted_us > 0) {
      object["predicted_start_us"] = stage.predicted_start_us;
      object["predicted_us"] = stage.predicted_us;
    }
    if (handover[s] >= 0) object["handover_us"] = handover[s];
    if (predicted_handover[s] >= 0) object["predicted_handover_us"] = predicted_handover[s];
    stages.push_back(std::move(object));
  }
  return stages;
}

void print_report_json(RunJob& job, const Measured& measured) {
  Json report{{"plan", job.options.plan},
              {"engine", engine_version()},
              {"devices", job.manifest.devices},
              {"threads", job.options.threads},
              {"bound_memory", job.runner->model().all_bound()},
              {"latency_us", spread(measured.latency.latency_us)}};
  for (const DimSetting& dim : job.dims) report["dims"][dim.name] = dim.value;
  if (job.whole != nullptr) {
    report["whole_us"] = spread(measured.latency.whole_us);
    report["over_whole"] =
        spread(over_whole(measured.latency.latency_us, measured.latency.whole_us));
  }
  if (job.manifest.predicted_makespan_us > 0) {
    report["predicted_us"] = job.manifest.predicted_makespan_us;
  }
  if (job.manifest.predicted_whole_us > 0) {
    report["predicted_whole_us"] = job.manifest.predicted_whole_us;
  }
  if (!measured.stream.request_us.empty()) {
    report["stream"] = {{"in_flight", job.runner->workers().slots()},
                        {"request_us", spread(measured.stream.request_us)}};
    if (job.whole != nullptr) {
      report["stream"]["over_whole"] =
          spread(over_whole(measured.stream.request_us, measured.stream.whole_us));
    }
  }
  if (measured.deviation >= 0) report["deviation"] = measured.deviation;
  if (!measured.profiles.empty()) report["profiles"] = measured.profiles;
  report["stages"] = stages_json(job, measured);
  report["cuts"] = Json::array();
  for (const Cut& cut : cuts_of(job)) {
    report["cuts"].push_back(
        {{"name", cut.name}, {"from", cut.from}, {"to", cut.to}, {"bytes", cut.bytes}});
  }
  print_json(report);
}

std::string against(double predicted, double measured) {
  if (predicted <= 0) return "-";
  return fmt::format("{} ({:+.0f}%)", format_us(predicted), 100 * (predicted / measured - 1));
}

std::string measured_table(const RunJob& job, const Measured& measured, bool color) {
  Table table({{"stage"},
               {"device"},
               {"nodes", Align::kRight},
               {"starts", Align::kRight},
               {"takes", Align::kRight},
               {"predicted", Align::kRight},
               {"handed over in", Align::kRight},
               {"predicted", Align::kRight}});
  const size_t count = job.manifest.stages.size();
  const auto summary = summarize_stages(measured.latency, count);
  const auto handover = handover_us(job.manifest, measured.latency);
  const auto predicted_handover = predicted_handover_us(job.manifest);
  for (size_t s = 0; s < count; ++s) {
    const ManifestStage& stage = job.manifest.stages[s];
    table.add_row({shown_file(job, stage), job.manifest.devices[stage.device],
                   stage.nodes > 0 ? format_count(stage.nodes) : "-",
                   format_us(summary[s].start_us), format_us(summary[s].time_us),
                   against(stage.predicted_us, summary[s].time_us),
                   handover[s] < 0 ? "-" : format_us(handover[s]),
                   predicted_handover[s] < 0 ? "-" : format_us(predicted_handover[s])});
  }
  return table.render(color);
}

std::string cut_table(RunJob& job, bool color) {
  const std::vector<Cut> cuts = cuts_of(job);
  if (cuts.empty()) return "";
  Table table(
      {{"tensor"}, {"from", Align::kRight}, {"to", Align::kRight}, {"bytes", Align::kRight}});
  for (const Cut& cut : cuts) {
    table.add_row({shortened(printable(cut.name), 40), std::to_string(cut.from),
                   std::to_string(cut.to), format_bytes(cut.bytes)});
  }
  return "\n" + table.render(color);
}

// " with batch=1"
std::string with_dims(const std::vector<DimSetting>& dims) {
  std::string text;
  for (const DimSetting& dim : dims) {
    text += fmt::format("{}{}={}", text.empty() ? " with " : ", ", printable(dim.name), dim.value);
  }
  return text;
}

void print_text(RunJob& job, const Measured& measured) {
  const bool color = job.options.common.color();
  std::string text = measured_table(job, measured, color) + cut_table(job, color);
  const double latency = median(measured.latency.latency_us);
  text += fmt::format("\none request{}: {} (median of {})", with_dims(job.dims), format_us(latency),
                      job.options.runs);
  if (job.manifest.predicted_makespan_us > 0) {
    text += ", predicted " + against(job.manifest.predicted_makespan_us, latency);
  }
  text += "\n";
  if (job.whole != nullptr) {
    text += fmt::format("the whole model on one thread: {}; a request takes {:.3f} of that\n",
                        format_us(median(measured.latency.whole_us)),
                        median(over_whole(measured.latency.latency_us, measured.latency.whole_us)));
  }
  if (!measured.stream.request_us.empty()) {
    text += fmt::format("a stream, {} in flight: {} per request", job.runner->workers().slots(),
                        format_us(median(measured.stream.request_us)));
    if (job.whole != nullptr) {
      text += fmt::format(", {:.3f} of the whole model on one thread",
                          median(over_whole(measured.stream.request_us, measured.stream.whole_us)));
    }
    text += "\n";
  }
  if (measured.deviation >= 0) {
    text += fmt::format("outputs: largest |a - b| / (1 + |b|) is {:.2g}\n", measured.deviation);
  }
  for (const std::string& file : measured.profiles) text += "profile: " + file + "\n";
  print(text);
}

RunReport report_of(const RunJob& job, const Measured& measured) {
  RunReport report;
  report.title = "Run of " + (job.manifest.graph.empty() ? job.options.plan : job.manifest.graph);
  report.devices = job.manifest.devices;
  report.measured_us = median(measured.latency.latency_us);
  report.predicted_us = job.manifest.predicted_makespan_us;
  const auto summary = summarize_stages(measured.latency, job.manifest.stages.size());
  for (size_t s = 0; s < summary.size(); ++s) {
    const ManifestStage& stage = job.manifest.stages[s];
    report.stages.push_back({shown_file(job, stage), stage.device, summary[s].start_us,
                             summary[s].time_us, stage.predicted_start_us, stage.predicted_us});
  }
  if (job.whole != nullptr) {
    report.facts.emplace_back("the whole model on one thread",
                              format_us(median(measured.latency.whole_us)));
    const auto ratios = over_whole(measured.latency.latency_us, measured.latency.whole_us);
    report.facts.emplace_back("a request over that", fmt::format("{:.3f}", median(ratios)));
  }
  if (!measured.stream.request_us.empty()) {
    report.facts.emplace_back(
        fmt::format("per request, {} in flight", job.runner->workers().slots()),
        format_us(median(measured.stream.request_us)));
  }
  return report;
}

void run_run(const RunOptions& options) {
  constexpr double kSame = 1e-3;
  std::vector<std::string> inputs{options.plan, options.model};
  for (const std::string& text : options.inputs) inputs.push_back(text.substr(text.find('=') + 1));
  // The engine adds the time to the names of its profiles.
  const std::string& prefix = options.profile;
  check_outputs({options.report, prefix.empty() ? "" : prefix + "_stage_0.json"}, inputs);
  RunJob job = open(options);
  const Measured measured = measure(job);
  if (options.common.json) {
    print_report_json(job, measured);
  } else {
    print_text(job, measured);
  }
  if (!options.report.empty()) {
    const std::string page = run_page(report_of(job, measured));
    job.runner.reset();  // its threads would take the signals that wait for the file
    job.whole.reset();
    write_text(options.report, page);
  }
  if (measured.deviation > kSame) {
    throw Failure(kInternalError, fmt::format("outputs deviate from the whole model's by {:.2g}",
                                              measured.deviation));
  }
}

}  // namespace

void add_run(Program& program) {
  Command& command = program.add("run", "Run a split model and measure it");
  auto options = std::make_shared<RunOptions>();
  command.argument("DIR", options->plan, "Directory of export --split, its manifest, or a model")
      .required();
  command.option("--model", "MODEL", options->model, "The whole model, to compare with");
  command.count("--runs", options->runs, "Runs that count", 1, 1'000'000);
  command
      .option("--mode", "latency|stream|both", options->mode,
              "One request at a time, several in flight, or both")
      .one_of({"latency", "stream", "both"});
  command.count("--in-flight", options->in_flight,
                "Requests in flight in a stream; one more than devices if absent", 1, 1024);
  command.count("--threads", options->threads, "Threads of each session", 1, 1024);
  command.list("--provider", "DEVICE=NAME", options->providers,
               "Execution provider of a device, or of all of a kind (gpu=cuda); cpu if absent");
  command.list("--hold", "DEVICE=SHARE", options->holds,
               "Let a device compute that share of the time only, to stand for a slower one");
  command.list("--dim", "NAME=N", options->dims,
               "A number for a free dimension (batch=4); if absent what it was placed with");
  command.list("--input", "NAME=FILE", options->inputs,
               "An .npy or raw file for an input, or a number");
  command.flag("--check", options->check, "Compare the outputs with the whole model's");
  command.option("--write-profiles", "PREFIX", options->profile,
                 "Let the engine write profiles, per stage");
  command.option("--report", "HTML", options->report,
                 "Page with the measured timeline above the predicted one");
  add_common(command, options->common);
  command.footer(kRunExamples);
  command.action([options] { run_run(*options); });
}

}  // namespace placeto::cli
