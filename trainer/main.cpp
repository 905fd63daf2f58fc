// placeto-train: trains policies, exports and measures them.
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <atomic>
#include <csignal>
#include <cstdio>
#include <optional>

#include <fmt/format.h>

#include "runtime/policy/features.h"
#include "trainer/evaluate.h"
#include "trainer/evaluate_report.h"
#include "trainer/export.h"
#include "trainer/files.h"
#include "trainer/parallel.h"
#include "trainer/train.h"

namespace {

using namespace placeto;
using namespace placeto::train;

std::atomic<bool> g_stop{false};

extern "C" void request_stop(int) {
  // A second signal ends the process at once: everything on disk is whole at any time.
  if (g_stop.exchange(true)) std::_Exit(130);
}

// Exit status of the tools: 2 bad usage, 3 bad input, 4 anything else.
int fail(const Status& status) {
  fmt::print(stderr, "placeto-train: {}\n", status.message());
  switch (status.code()) {
    case StatusCode::kInvalidArgument:
      return 2;
    case StatusCode::kBadInput:
    case StatusCode::kIo:
      return 3;
    default:
      return 4;
  }
}

std::string duration(double seconds) {
  const auto s = static_cast<int64_t>(seconds);
  return fmt::format("{}:{:02}:{:02}", s / 3'600, s / 60 % 60, s % 60);
}

void show_progress(const Progress& p) {
  fmt::print(
      stderr,
      "\r{}/{}  correlation {:.3f}  greedy {:.4f}  guided search {:.4f} of auto  {} left \x1b[K",
      p.iteration, p.iterations, p.correlation, p.greedy, p.guided, duration(p.left));
  if (p.iteration == p.iterations) fmt::print(stderr, "\n");
}

struct TrainArguments {
  std::string config, resume, output;
};

int run_training(const TrainArguments& arguments) {
  const bool resume = !arguments.resume.empty();
  RunFolder folder(resume ? arguments.resume : arguments.output);
  std::string text(default_config_text());
  Result<Config> config = Config{};
  if (resume || !arguments.config.empty()) {
    config = load_config(resume ? folder.file("config.toml") : arguments.config, &text);
  }
  if (!config.ok()) return fail(config.status());
  if (!resume) {
    if (Status s = folder.create(text); !s.ok()) return fail(s);
  }
  std::signal(SIGINT, request_stop);
  std::signal(SIGTERM, request_stop);
  TrainOptions options;
  options.stop = &g_stop;
  if (isatty(STDERR_FILENO) != 0) options.on_progress = show_progress;
  options.on_note = [](const std::string& note) { fmt::print(stderr, "{}\n", note); };
  if (Status s = train::train(*config, text, folder, resume, options); !s.ok()) return fail(s);
  return 0;
}

int run_export(const std::string& run, const std::string& output, bool best) {
  RunFolder folder(run);
  std::string text;
  Result<Config> config = load_config(folder.file("config.toml"), &text);
  if (!config.ok()) return fail(config.status());
  if (best) {
    Result<std::string> bytes = read_text(folder.file("best.plpo"));
    if (!bytes.ok()) return fail(bytes.status());
    const Status status = write_whole(output, *bytes);
    return status.ok() ? 0 : fail(status);
  }
  Result<Checkpoint> checkpoint = folder.load(nullptr);
  if (!checkpoint.ok()) return fail(checkpoint.status());
  Learner learner(config->learn, config->seed);
  if (Status s = learner.load(checkpoint->learner); !s.ok()) return fail(s.at(run));
  Result<std::vector<uint8_t>> bytes = export_policy(learner, *config, text, checkpoint->moves);
  if (!bytes.ok()) return fail(bytes.status());
  const Status status =
      write_whole(output, {reinterpret_cast<const char*>(bytes->data()), bytes->size()});
  return status.ok() ? 0 : fail(status);
}

struct EvalArguments {
  std::string policy, json, csv, svg;
  uint32_t problems = 64, large = 8, threads = 0;
  EvaluateOptions what;
};

// Numbers of the first test problems of each set. Those of lower numbers have been used to choose
// constants of the placer, so they are no test any more.
constexpr uint64_t kFirstMixed = 10'000, kFirstLarge = 1'010'000;

// The fixed test sets: `mixed` of 40 to 200 nodes, and random graphs of 1,000.
std::vector<Graded> grade_all(const EvalArguments& arguments, const Policy& policy) {
  std::vector<std::optional<Graded>> found(arguments.problems + arguments.large);
  parallel_for(static_cast<uint32_t>(found.size()), arguments.threads, [&](uint32_t i) {
    // Large ones first: they take longest.
    const bool large = i < arguments.large;
    DataConfig data;
    data.max_nodes = 200;
    data.large_share = large ? 1 : 0;
    if (large) data.network_share = 0;
    const uint64_t seed =
        problem_seed(Split::kTest, 0, large ? kFirstLarge + i : kFirstMixed + i - arguments.large);
    found[i] = grade(draw_problem(data, seed), policy, arguments.what);
    if (found[i]) found[i]->set = large ? "large" : "mixed";
  });
  std::vector<Graded> graded;
  for (auto& g : found) {
    if (g) graded.push_back(std::move(*g));
  }
  return graded;
}

int run_eval(const EvalArguments& arguments) {
  auto policy = Policy::load_file(arguments.policy, Policy::File::kRead, known_features());
  if (!policy.ok()) return fail(policy.status());
  if ((*policy)->architecture() != Architecture::kPairwise) {
    return fail(Status::bad_input(arguments.policy + ": expected the architecture pairwise"));
  }
  const std::vector<Graded> graded = grade_all(arguments, **policy);
  fmt::print("{}", report_table(graded, isatty(STDOUT_FILENO) != 0));
  const std::vector<std::string> methods = {
      "auto", "policy", "search 300", "policy + guided 300", "search 1000", "policy + guided 1000"};
  const std::pair<const std::string&, std::string> files[] = {
      {arguments.json, report_json(graded, arguments.policy)},
      {arguments.csv, report_csv(graded)},
      {arguments.svg, report_svg(graded, methods)}};
  for (const auto& [path, content] : files) {
    if (path.empty()) continue;
    if (Status s = write_whole(path, content); !s.ok()) return fail(s);
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Trains placement policies.");
  app.require_subcommand(0, 1);
  TrainArguments training;
  auto* config =
      app.add_option("--config", training.config, "Configuration (TOML); absent: defaults");
  auto* resume = app.add_option("--resume", training.resume, "Run folder to continue");
  auto* output = app.add_option("-o,--output", training.output, "New run folder");
  resume->excludes(config)->excludes(output);
  bool print_config = false;
  app.add_flag("--print-config", print_config, "Print every setting with its default and meaning");

  std::string run, policy;
  bool best = false;
  CLI::App* exporting = app.add_subcommand("export", "Writes a run's policy file");
  exporting->add_option("RUN", run, "Run folder")->required();
  exporting->add_option("-o,--output", policy, "Policy file")->required();
  exporting->add_flag("--best", best, "The best in checks so far, not the latest");

  EvalArguments evaluation;
  CLI::App* evaluating = app.add_subcommand("eval", "Measures a policy on the fixed test set");
  evaluating->add_option("POLICY", evaluation.policy, "Policy file")->required();
  evaluating->add_option("--problems", evaluation.problems, "Mixed problems of 40 to 200 nodes");
  evaluating->add_option("--large", evaluation.large, "Random graphs of 1,000 nodes");
  evaluating->add_option("--budgets", evaluation.what.budgets, "Evaluations of the searches");
  evaluating->add_option("--long-searches", evaluation.what.long_searches,
                         "Searches for the best known placement");
  evaluating->add_option("--long-evaluations", evaluation.what.long_evaluations, "Length of each");
  evaluating->add_option("--passes", evaluation.what.passes, "Passes of the policy");
  evaluating->add_option("--threads", evaluation.threads, "0: one per processor");
  evaluating->add_option("--json", evaluation.json, "Write the results to this file");
  evaluating->add_option("--csv", evaluation.csv, "One line per problem and method");
  evaluating->add_option("--svg", evaluation.svg, "Figure: share of problems within a ratio");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : 2;
  }
  if (exporting->parsed()) return run_export(run, policy, best);
  if (evaluating->parsed()) return run_eval(evaluation);
  if (print_config) {
    fmt::print("{}", default_config_text());
    return 0;
  }
  if (training.resume.empty() && training.output.empty()) {
    fmt::print(stderr, "placeto-train: name a new run folder (-o) or one to continue (--resume)\n");
    return 2;
  }
  return run_training(training);
}
