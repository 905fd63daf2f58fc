#include "tools/cli/methods.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <system_error>

#include "runtime/placer/methods.h"
#include "runtime/placer/steps.h"
#include "runtime/policy/guide.h"
#include "tools/cli/common.h"
#include "tools/cli/files.h"
#include "tools/io/read.h"
#include "tools/io/shipped.h"
#include "tools/partition/partition.h"
#include "tools/report/table.h"

namespace placeto::cli {
namespace {

// nullptr: none of that name.
const Method* find_partitioner(std::string_view name) {
  for (const Method* method : partition_methods()) {
    if (method->name() == name) return method;
  }
  return nullptr;
}

Result<PlaceResult> run_within(const Problem& problem, const MethodChoice& choice) {
  if (choice.name == kPolicyAlone && choice.policy == nullptr) {
    return Status::invalid("method 'policy' needs a policy: --policy FILE");
  }
  if (const Method* method = find_partitioner(choice.name)) {
    return place_with(problem, *method, choice.options);
  }
  return place(problem, choice.name, choice.options, {.policy = choice.policy.get()});
}

// Evaluations, 100k, or a time, 2s.
std::string set_budget(const std::string& text, Budget& budget) {
  uint64_t evaluations = 0;
  if (parse_large_count(text, evaluations)) {
    budget.evaluations = evaluations;
    return "";
  }
  double milliseconds = 0, bare = 0;
  const bool has_unit = !parse_number(text, bare);  // half an evaluation is none
  if (!has_unit || !parse_milliseconds(text, milliseconds) || milliseconds > 1e12) {
    return "'" + text +
           "' is neither a number of evaluations, such as 1000 or 100k, nor a time, "
           "such as 500ms or 2s";
  }
  budget.milliseconds = milliseconds;
  return "";
}

}  // namespace

void add_method_options(Command& command, MethodOptions& options) {
  command.heading("Search");
  command
      .custom("--budget", "N|TIME",
              "Search with that many evaluations (100k), or for that long (2s)",
              [&options](const std::string& text) { return set_budget(text, options.budget); })
      .proposes_words({})
      .not_with({"--budget-evals", "--budget-ms"});
  command.count("--budget-evals", options.budget.evaluations,
                "Search with that many evaluations: the same answer on every machine");
  command.milliseconds("--budget-ms", options.budget.milliseconds,
                       "Search for that long; the answer depends on the machine");
  command.count("--passes", options.passes,
                "Passes of methods that repeat them, and ten windows for each", 1, kMostPasses);
  command.count("--samples", options.samples,
                "Placements the policy draws by chance beside its greedy one (default 0)", 0,
                kMostSamples);
  command.share("--tolerance", options.tolerance,
                "Of placements that cost at most this share more than the best, the one with the "
                "fewest stages (default 0, or the engine's)",
                1);
  command.count("--seed", options.seed, "Of methods that draw at random");
  command.heading("");
}

std::vector<std::string> method_names() {
  std::vector<std::string> names;
  for (std::string_view name : placer_names()) names.emplace_back(name);
  for (const Method* method : partition_methods()) names.emplace_back(method->name());
  return names;
}

std::string method_problem(std::string_view name) {
  const std::vector<std::string> names = method_names();
  if (std::find(names.begin(), names.end(), name) != names.end()) return "";
  const auto optional = partition_method_names();
  if (std::find(optional.begin(), optional.end(), name) != optional.end()) {
    return fmt::format(
        "'{}' is not in this build: its library was not installed when placeto was "
        "built",
        name);
  }
  return fmt::format("'{}' is none of {}{}", name, fmt::join(names, ", "), suggestion(name, names));
}

std::string method_help() {
  std::vector<std::string_view> heuristics;
  for (const Step& step : auto_steps()) {
    if (step.method != nullptr) heuristics.push_back(step.name);
  }
  std::string text = fmt::format(
      "How to place:\n  auto: the best of {}, and of the steps listed below (default)\n  policy: "
      "the policy's leaps and greedy passes, from the best that auto finds before them",
      fmt::join(heuristics, ", "));
  const auto add = [&text](const Method* method) {
    text += fmt::format("\n  {}: {}", method->name(), method->summary());
    if (!method->takes_budget()) return;
    text += fmt::format(" (default {} evaluations)", format_count(method->default_evaluations()));
  };
  for (const Method* method : builtin_methods()) add(method);
  for (const Method* method : partition_methods()) add(method);
  return text;
}

std::string step_help() {
  std::string text;
  for (const Step& step : auto_steps()) {
    if (step.method != nullptr) continue;
    text += fmt::format("  {:<26}{} ({})\n", step.name, step.summary, step.when);
  }
  return text;
}

std::string what_found(std::string_view method) {
  const std::string_view name = method.substr(0, method.find(' '));  // "single gpu:1"
  for (const Step& step : auto_steps()) {
    if (step.name == name) return std::string(step.summary);
  }
  return "";
}

bool takes_budget(std::string_view name) {
  const Method* const method = find_method(name);
  return name == kAuto || (method != nullptr && method->takes_budget());
}

std::shared_ptr<const Policy> load_policy(const std::string& name) {
  if (name == "none") return nullptr;
  if (name == kDefaultPolicy) {
    const auto bytes = shipped::default_policy();
    if (bytes.empty()) return nullptr;
    return require(Policy::load(bytes, Policy::Bytes::kCopy, known_features()), kInternalError);
  }
  std::error_code error;
  const std::string close = suggestion(name, {std::string(kDefaultPolicy), "none"});
  if (name != "-" && !close.empty() && !std::filesystem::exists(name, error)) {
    throw Failure(kBadInputFile, name + ": no such file, and no built-in policy" + close);
  }
  note_input(name);
  return require(read_policy(name));
}

void add_policy_option(Command& command, std::string& name) {
  command
      .option("--policy", "FILE", name,
              "Trained policy: a file, 'none', or 'default', the one that ships with placeto and "
              "is used unless you say otherwise")
      .proposes({"default", "none"});
}

void add_deadline_option(Command& command, MethodChoice& choice) {
  command.heading("Search");
  command.milliseconds("--deadline-ms", choice.deadline_ms,
                       "End placing after that time, searched or not, with the best so far (0: no "
                       "deadline); so "
                       "do Ctrl-C, SIGTERM and SIGHUP, and a second one, half a second later or "
                       "more, ends the program");
  command.heading("");
}

Result<PlaceResult> run_method(const Problem& problem, const MethodChoice& choice, Watch& watch) {
  MethodChoice bounded = choice;
  bounded.options.stop = &watch.stop();
  bounded.options.progress = &watch.progress();
  Result<PlaceResult> result = run_within(problem, bounded);
  if (result.ok() && !result->simulated) {  // whoever prints it wants all of it
    result->timeline = Simulator(problem).run(result->best.assignment, result->best.division);
    result->simulated = true;
  }
  return result;
}

Result<PlaceResult> run_method(const Problem& problem, const MethodChoice& choice) {
  Watch watch = watch_for(choice);
  return run_method(problem, choice, watch);
}

Watch watch_for(const MethodChoice& choice) {
  return {choice.deadline_ms, choice.options.budget, choice.stop_on_interrupt};
}

}  // namespace placeto::cli
