#include "tools/cli/methods.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdio>

#include "runtime/heuristics/heuristics.h"
#include "runtime/policy/pairwise/features.h"
#include "tools/cli/common.h"
#include "tools/io/read.h"
#include "tools/io/shipped.h"
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

// Looks at the clock and at Ctrl-C, and shows people who wait for more than a second how far it is.
class Watch {
 public:
  explicit Watch(const MethodChoice& choice)
      : deadline_ms_(choice.deadline_ms),
        budget_(choice.options.budget),
        is_shown_(choice.stop_on_interrupt && isatty(STDERR_FILENO) == 1) {}
  ~Watch() {
    if (shown_at_ms_ > 0) std::fputs("\r\x1b[K", stderr);
  }
  Watch(const Watch&) = delete;
  Watch& operator=(const Watch&) = delete;

  // What asks it.
  void watch(const Stop& stop) { stop_ = &stop; }
  static bool ask(void* watch) { return static_cast<Watch*>(watch)->look(); }

 private:
  bool look() {
    constexpr double kFirstMs = 1000, kEveryMs = 250;
    using Milliseconds = std::chrono::duration<double, std::milli>;
    const double now = Milliseconds(std::chrono::steady_clock::now() - start_).count();
    if (spent() > 0 && search_began_ms_ < 0) search_began_ms_ = now;
    if (is_shown_ && now > kFirstMs && now > shown_at_ms_ + kEveryMs) show(now);
    return interrupted || (deadline_ms_ > 0 && now >= deadline_ms_);
  }
  double spent() const { return stop_ == nullptr ? 0 : stop_->progress().evaluations; }

  // Until the first limit that is reached; negative: nobody knows.
  double left_ms(double now) const {
    double left = -1;
    const auto limit = [&left](double ms) {
      if (ms >= 0 && (left < 0 || ms < left)) left = ms;
    };
    if (deadline_ms_ > 0) limit(deadline_ms_ - now);
    if (search_began_ms_ < 0) return left;
    const double searched = now - search_began_ms_;
    if (budget_.milliseconds > 0) limit(budget_.milliseconds - searched);
    if (budget_.evaluations > 0) {
      limit(searched * (static_cast<double>(budget_.evaluations) / spent() - 1));
    }
    return left;
  }
  void show(double now) {
    shown_at_ms_ = now;
    std::string text = fmt::format("\r\x1b[Kplacing for {:.0f} s", now / 1000);
    const double best_us = stop_ == nullptr ? 0 : stop_->progress().best_us;
    if (best_us > 0) text += ", best so far " + format_us(best_us);
    if (const double left = left_ms(now); left >= 0) {
      text += fmt::format(", {:.0f} s left", left / 1000);
    }
    std::fputs((text + "; Ctrl-C takes the best").c_str(), stderr);
  }

  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  const Stop* stop_ = nullptr;
  double deadline_ms_;
  Budget budget_;
  double search_began_ms_ = -1, shown_at_ms_ = 0;
  bool is_shown_;
};

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
  double milliseconds = 0;
  if (!parse_milliseconds(text, milliseconds) || milliseconds > 1e12) {
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
  command.custom("--budget", "N|TIME",
                 "Search with that many evaluations (100k), or for that long (2s)",
                 [&options](const std::string& text) { return set_budget(text, options.budget); });
  command.count("--budget-evals", options.budget.evaluations,
                "Search with that many evaluations: the same answer on every machine");
  command.milliseconds("--budget-ms", options.budget.milliseconds,
                       "Search for that long; the answer depends on the machine");
  command.count(
      "--passes", options.passes,
      fmt::format("Passes of methods that repeat them, and ten windows for each (default {})",
                  options.passes),
      1, 1'000'000);
  command.count("--samples", options.samples,
                "Placements the policy draws by chance beside its greedy one (default 0)", 0,
                100'000);
  command
      .custom("--grouping", "auto|none",
              "Whether chains and tiny operators are moved as one (default auto)",
              [&options](const std::string& name) {
                options.grouping = name == "none" ? Grouping::kNone : Grouping::kAutomatic;
                return std::string();
              })
      .one_of({"auto", "none"});
  command.share("--tolerance", options.tolerance,
                "Of placements that cost at most this share more than the best, the one with the "
                "fewest stages (default 0, or the engine's)",
                1);
  command.count("--seed", options.seed,
                fmt::format("Of methods that draw at random (default {})", options.seed));
  command.heading("");
}

std::vector<std::string> method_names() {
  std::vector<std::string> names;
  for (std::string_view name : placer_names()) names.emplace_back(name);
  for (const Method* method : partition_methods()) names.emplace_back(method->name());
  return names;
}

void check_method(std::string_view option, std::string_view name) {
  const std::vector<std::string> names = method_names();
  if (std::find(names.begin(), names.end(), name) != names.end()) return;
  const auto optional = partition_method_names();
  if (std::find(optional.begin(), optional.end(), name) != optional.end()) {
    throw Failure(kBadUsage, fmt::format("{}: '{}' is not in this build: its library was not "
                                         "installed when placeto was built",
                                         option, name));
  }
  throw Failure(kBadUsage, fmt::format("{}: '{}' is none of {}{}", option, name,
                                       fmt::join(names, ", "), suggestion(name, names)));
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
                       "End placing after that time, searched or not, with the best so far; so "
                       "does Ctrl-C");
  command.heading("");
}

Result<PlaceResult> run_method(const Problem& problem, const MethodChoice& choice) {
  Watch watch(choice);
  Stop stop(Watch::ask, &watch);
  watch.watch(stop);
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
