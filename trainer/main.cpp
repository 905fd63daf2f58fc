// placeto-train: trains policies, exports and measures them.
#include <algorithm>
#include <csignal>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <new>
#include <span>
#include <string_view>

#include <fmt/format.h>

#include "runtime/graph/text.h"
#include "runtime/policy/file/policy_file.h"
#include "runtime/policy/guide.h"
#include "tools/io/interruption.h"
#include "tools/io/write.h"
#include "tools/options/options.h"
#include "tools/report/table.h"
#include "trainer/algorithms/make_algorithm.h"
#include "trainer/base/files.h"
#include "trainer/base/progress.h"
#include "trainer/eval/evaluate_command.h"
#include "trainer/eval/measure_commands.h"
#include "trainer/train/hosts.h"
#include "trainer/train/train.h"

namespace {

using namespace placeto;
using namespace placeto::train;

constexpr std::string_view kStopping =
    "\nstopping after this iteration; once more to stop at once: --resume continues either\n";

// Exit status of the tools: 2 bad usage, 3 bad input (files that cannot be read among them), 4
// anything else.
int fail(const Status& status) {
  std::fputs(("placeto-train: error: " + status.message() + "\n").c_str(), stderr);
  switch (status.code()) {
    case StatusCode::kInvalidArgument:
      return 2;
    case StatusCode::kBadInput:
      return 3;
    default:
      return 4;
  }
}

void show_progress(const Progress& p, ProgressLine& line) {
  line.show(fmt::format("{}/{}  {}  {} left", p.iteration, p.iterations, p.summary,
                        rough_time(1e3 * p.left)),
            p.iteration == p.iterations);
}

constexpr const char* kExamples = R"(Examples:
  placeto-train --print-config > mine.toml
  placeto-train --config mine.toml -o run --compare
  placeto-train --graphs 'nets/*.onnx' --topologies box.json -o run --compare
  placeto-train --resume run
  placeto-train export run --best -o mine.plpo
  placeto-train eval mine.plpo --sets mixed --svg mine.svg

Exit status: 0 done; 2 bad usage; 3 bad input file; 4 internal error, an output that cannot be
written, or a host that is gone or was stopped. SIGINT (Ctrl-C), SIGTERM and SIGHUP stop training
after the iteration under way. That is saved, and the signal then ends the program, without
--compare: a shell sees 130, 143 or 129.)";

struct TrainArguments {
  std::string config, resume, output;
  std::vector<std::string> graphs, topologies;
  bool compare = false;
  HostsOptions hosts;
};

// What a run that was stopped leaves behind.
std::string left_behind(const TrainArguments& arguments, const RunFolder& folder,
                        uint32_t iteration, uint32_t iterations) {
  const std::string& run = arguments.resume.empty() ? arguments.output : arguments.resume;
  std::string text =
      fmt::format("saved in {}: the state after {} of {} iterations", run, iteration, iterations);
  if (std::filesystem::exists(folder.file("best.plpo"))) {
    text += ", and in best.plpo the best policy so far";
  }
  if (iteration < iterations) text += fmt::format("; --resume {} continues", run);
  if (arguments.compare) text += "; --compare was not done";
  return text;
}

int run_training(const TrainArguments& arguments) {
  const bool resume = !arguments.resume.empty();
  RunFolder folder(resume ? std::filesystem::absolute(arguments.resume).string()
                          : arguments.output);
  if (resume) folder.enter_directory();
  std::string text = default_config_text();
  Result<Config> config = Config{};
  if (resume || !arguments.config.empty()) {
    // A run that continues may have begun when such keys were taken; those that it did not begin
    // with are refused by keep_settings.
    config = resume ? load_config(folder.file("config.toml"), &text, Unread::kLeft)
                    : load_config(arguments.config, &text);
  } else if (!arguments.graphs.empty()) {
    text = own_config_text(arguments.graphs, arguments.topologies);
    config = parse_config(text, "--graphs");
  }
  if (!config.ok()) return fail(config.status());
  const auto give_up = [&](const Status& status) {
    if (!resume) folder.abandon();
    return fail(status);
  };
  if (!resume) {
    if (Status s = folder.create(text); !s.ok()) return give_up(s);
  }
  std::unique_ptr<Hosts> hosts;
  if (arguments.hosts.count > 1) {
    Result<std::unique_ptr<Hosts>> joined = Hosts::join(arguments.hosts);
    if (!joined.ok()) return give_up(joined.status());
    hosts = std::move(*joined);
  }
  TrainOptions options;
  options.hosts = hosts.get();
  ProgressLine progress;
  options.on_progress = [&](const Progress& p) { show_progress(p, progress); };
  options.on_note = [&](const std::string& note) {
    progress.clear();
    fmt::print(stderr, "{}\n", note);
  };
  double seconds = 0;
  {
    const Interruption signals(kStopping);
    options.stop = signals.flag();
    if (Status s = train::train(*config, text, make_algorithm, folder, resume, options); !s.ok()) {
      progress.clear();
      const int status = give_up(s);
      if (s.code() == StatusCode::kStopped) Interruption::obey();
      return status;
    }
    const Result<Checkpoint> trained = folder.load_latest();
    if (!trained.ok()) return fail(trained.status());
    seconds = trained->seconds;
    const std::string left = left_behind(arguments, folder, trained->iteration, config->iterations);
    if (trained->iteration < config->iterations) progress.clear();
    if (*signals.flag()) {
      fmt::print(stderr, "placeto-train: stopped by {}; {}\n", signals.name(), left);
      Interruption::obey();
    }
    // Hosts stop together.
    if (trained->iteration < config->iterations) {
      return fail(Status::io("another host was stopped; " + left));
    }
  }
  if (!arguments.compare) return 0;
  // A signal ends it at once: what follows need not be continued.
  const Status status = compare_after_training(*config, folder.file("best.plpo"), seconds);
  return status.ok() ? 0 : fail(status);
}

// What a run needs, or has left behind: all but the policies that were exported into its folder.
std::vector<std::string> files_of(const RunFolder& folder) {
  std::vector<std::string> files;
  std::error_code error;
  for (std::filesystem::recursive_directory_iterator i(folder.file(""), error), end;
       !error && i != end; i.increment(error)) {
    const bool exported = i->path().extension() == ".plpo" && i->path().filename() != "best.plpo";
    if (!exported) files.push_back(i->path().string());
  }
  return files;
}

int run_export(const std::string& run, const std::string& output, bool best) {
  RunFolder folder(run);
  std::string text;
  Result<Config> config = load_config(folder.file("config.toml"), &text, Unread::kLeft);
  if (!config.ok()) return fail(config.status());
  if (Status s = check_outputs({&output, 1}, files_of(folder)); !s.ok()) return fail(s);
  if (best) {
    Result<std::string> bytes = read_text(folder.file("best.plpo"));
    if (!bytes.ok()) return fail(bytes.status());
    const auto policy = decode_policy(as_bytes(*bytes), known_features());
    if (!policy.ok()) {
      return fail(policy.status().at(folder.file("best.plpo")));
    }
    const Status status = write_output(output, *bytes);
    return status.ok() ? 0 : fail(status);
  }
  Result<std::vector<uint8_t>> bytes = export_run(*config, text, make_algorithm, folder);
  if (!bytes.ok()) return fail(bytes.status());
  const Status status = write_output(output, as_text(*bytes));
  return status.ok() ? 0 : fail(status);
}

int print(std::string_view text) {
  const Status status = write_output("-", text);
  return status.ok() ? 0 : fail(status);
}

void add_training(cli::Command& command, TrainArguments& a, bool& print_config) {
  command.option("--config", "FILE", a.config, "Configuration (TOML); absent: defaults");
  command.option("--resume", "RUN", a.resume, "Run folder to continue")
      .not_with({"--config", "--output"});
  command.option("-o,--output", "RUN", a.output, "New run folder");
  command
      .list("--graphs", "FILE", a.graphs,
            "Instead of a configuration: teach the shipped policy to leap on graphs of one's own "
            "(*.graph, *.json, *.onnx; files or patterns)")
      .several()
      .only_with("--topologies")
      .not_with({"--config", "--resume"});
  command.list("--topologies", "FILE", a.topologies, "Topology files, with --graphs")
      .several()
      .only_with("--graphs");
  command.flag(
      "--compare", a.compare,
      "At the end, measure the best policy against heuristics and search, on problems that "
      "it did not learn from: the test set mixed, for placeto others drawn as [data] says; "
      "of a family, those left out. On graphs of one's own, learned and held out, against "
      "the shipped policy and as long a search as training took, too");
  command.count("--hosts", a.hosts.count, "Hosts that train together: one command on each", 1);
  command.count("--rank", a.hosts.rank, "Number of this host, from 0").only_with("--hosts");
  command.option("--address", "HOST:PORT", a.hosts.address, "Of host 0, reachable by all")
      .only_with("--hosts");
  command
      .count("--timeout", a.hosts.timeout_seconds,
             "Seconds after which a silent host counts as gone", 1)
      .only_with("--hosts");
  command.flag("--print-config", print_config, "Print every setting with its default and meaning");
}

int dispatch(int argc, char** argv) {
  cli::Program program("placeto-train", "Trains placement policies.", PLACETO_VERSION_TEXT);
  program.footer(kExamples);
  TrainArguments training;
  bool print_config = false, best = false;
  add_training(program.main(), training, print_config);

  int result = 0;
  std::string run, policy;
  cli::Command& exporting = program.add("export", "Write a run's policy file");
  exporting.argument("RUN", run, "Run folder").required();
  exporting.option("-o,--output", "FILE", policy, "Policy file; -: standard output").required();
  exporting.flag("--best", best, "The best in checks so far, not the latest");
  exporting.footer("Examples:\n  placeto-train export run --best -o quick.plpo");
  exporting.action([&] { result = run_export(run, policy, best); });
  Status measured;
  add_measurements(program, measured);

  set_output_color(cli::terminal_has_color());
  const Result<cli::Request> request = cli::parse(program, {argv + std::min(argc, 1), argv + argc});
  if (!request.ok()) return fail(request.status());
  switch (request->what) {
    case cli::Request::kVersion:
      return print("placeto-train " PLACETO_VERSION_TEXT "\n");
    case cli::Request::kHelp:
      return print(request->command == nullptr
                       ? help_text(program, cli::help_columns())
                       : help_text(program, *request->command, cli::help_columns()));
    case cli::Request::kRun:
      break;
  }
  if (request->command != &program.main()) {
    request->command->run();
    return measured.ok() ? result : fail(measured);
  }
  if (print_config) return print(default_config_text());
  if (training.resume.empty() && training.output.empty()) {
    return fail(Status::invalid("name a new run folder (-o) or one to continue (--resume)"));
  }
  return run_training(training);
}

}  // namespace

int main(int argc, char** argv) {
  // Who reads a table may have seen enough of it, as `head` does; files are still to be written.
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGXFSZ, SIG_IGN);  // a file that may not grow fails as a full disk does
  try {
    return dispatch(argc, argv);
  } catch (const std::bad_alloc&) {
    return fail(Status(StatusCode::kOutOfMemory, "out of memory"));
  } catch (const std::exception& e) {  // of libraries: a closed stream, a folder that is gone
    return fail(Status::io(e.what()));
  }
}
