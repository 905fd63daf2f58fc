#include "tools/cli/methods.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <atomic>
#include <csignal>

#include "runtime/heuristics/heuristics.h"
#include "runtime/policy/pairwise/features.h"
#include "tools/cli/common.h"
#include "tools/cli/shipped_policy.h"
#include "tools/io/read.h"
#include "tools/partition/partition.h"

namespace placeto::cli {
namespace {

// nullptr: none of that name.
const Method* find_partitioner(std::string_view name) {
  for (const Method* method : partition_methods()) {
    if (method->name() == name) return method;
  }
  return nullptr;
}

std::atomic<bool> interrupted{false};

// Once: a second Ctrl-C ends the program.
void on_interrupt(int signal) {
  interrupted = true;
  std::signal(signal, SIG_DFL);
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

void add_small_count(CLI::App& app, const std::string& name, uint32_t& value, uint32_t least,
                     uint32_t most, const std::string& help) {
  const auto set = [&value, name, least, most](const std::string& text) {
    uint64_t number = 0;
    if (!parse_count(text, number) || number < least || number > most) {
      throw CLI::ValidationError(
          name, fmt::format("'{}' is not a whole number from {} to {}", text, least, most));
    }
    value = static_cast<uint32_t>(number);
  };
  app.add_option_function<std::string>(name, set, help)->type_name("N");
}

}  // namespace

void add_method_options(CLI::App& app, MethodOptions& options) {
  add_small_count(
      app, "--passes", options.passes, 1, 1'000'000,
      fmt::format("Passes of methods that repeat them, and ten windows for each (default {})",
                  options.passes));
  add_small_count(app, "--samples", options.samples, 0, 100'000,
                  "Placements the policy draws by chance beside its greedy one (default 0)");
  add_number(app, "--budget-ms", options.budget.milliseconds,
             "Search for that long; the answer depends on the machine", 0, 1e12);
  add_count(app, "--budget-evals", options.budget.evaluations, "Search with that many evaluations");
  app.add_option_function<std::string>(
         "--grouping",
         [&options](const std::string& name) {
           options.grouping = name == "none" ? Grouping::kNone : Grouping::kAutomatic;
         },
         "Whether chains and tiny operators are moved as one (default auto)")
      ->check(CLI::IsMember({"auto", "none"}))
      ->type_name("auto|none");
  add_count(app, "--seed", options.seed,
            fmt::format("Of methods that draw at random (default {})", options.seed));
}

std::vector<std::string> method_names() {
  std::vector<std::string> names;
  for (std::string_view name : placer_names()) names.emplace_back(name);
  for (const Method* method : partition_methods()) names.emplace_back(method->name());
  return names;
}

void check_method(std::string_view name) {
  const std::vector<std::string> names = method_names();
  if (std::find(names.begin(), names.end(), name) != names.end()) return;
  const auto optional = partition_method_names();
  if (std::find(optional.begin(), optional.end(), name) != optional.end()) {
    throw Failure(kBadUsage, fmt::format("method '{}' is not in this build: its library was not "
                                         "installed when placeto was built",
                                         name));
  }
  throw Failure(kBadUsage,
                fmt::format("no method '{}', expected one of {}", name, fmt::join(names, ", ")));
}

std::string method_help() {
  std::string text = fmt::format(
      "How to place:\n  auto: the best of {} (default)\n  policy: the policy's greedy passes alone",
      describe_auto());
  const auto add = [&text](const Method* method) {
    text += fmt::format("\n  {}: {}", method->name(), method->summary());
  };
  for (const Method* method : builtin_methods()) add(method);
  for (const Method* method : partition_methods()) add(method);
  return text;
}

std::shared_ptr<const Policy> load_policy(const std::string& name) {
  if (name == "none") return nullptr;
  if (name == kDefaultPolicy) {
    const auto bytes = shipped::default_policy();
    if (bytes.empty()) return nullptr;
    return require(Policy::load(bytes, Policy::Bytes::kCopy, known_features()), kInternalError);
  }
  return require(read_policy(name));
}

void add_policy_option(CLI::App& app, std::string& name) {
  app.add_option("--policy,-p", name,
                 "Trained policy: a file, 'none', or 'default', the one that ships with placeto")
      ->type_name("FILE")
      ->capture_default_str();
}

void add_deadline_option(CLI::App& app, MethodChoice& choice) {
  add_number(app, "--deadline-ms", choice.deadline_ms,
             "End placing after that time, searched or not, with the best so far; so does Ctrl-C",
             0, 1e12);
}

Result<PlaceResult> run_method(const Problem& problem, const MethodChoice& choice) {
  Stop stop(&interrupted, choice.deadline_ms);
  stop.head_start();
  MethodChoice bounded = choice;
  bounded.options.budget.stop = &stop;
  if (choice.stop_on_interrupt) std::signal(SIGINT, on_interrupt);
  Result<PlaceResult> result = run_within(problem, bounded);
  if (choice.stop_on_interrupt) std::signal(SIGINT, SIG_DFL);
  if (result.ok() && !result->simulated) {  // whoever prints it wants all of it
    result->timeline = Simulator(problem).run(result->best.assignment);
    result->bounds = lower_bounds(problem);
    result->simulated = true;
  }
  return result;
}

}  // namespace placeto::cli
