// Methods by name: those of the runtime, and the partitioners of this build.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/placer/placer.h"
#include "tools/cli/watch.h"
#include "tools/options/options.h"

namespace placeto::cli {

// How to place: the method and its options as the command line gives them.
struct MethodChoice {
  std::string name = "auto";
  MethodOptions options;
  std::shared_ptr<const Policy> policy;  // null: heuristics only
  double deadline_ms = 0;                // 0: none; else best so far at that time
  bool stop_on_interrupt = false;        // the first signal ends the placing, not the program
};

// --budget, --budget-ms, --budget-evals, --passes, --samples, --tolerance, --seed.
void add_method_options(Command& command, MethodOptions& options);
// --deadline-ms.
void add_deadline_option(Command& command, MethodChoice& choice);

// The policy that --policy names: a file; "default": the one that ships with this build; "none".
// A Failure if it cannot be loaded, or if there is no default in this build and it is asked for.
inline constexpr const char* kDefaultPolicy = "default";
std::shared_ptr<const Policy> load_policy(const std::string& name);
void add_policy_option(Command& command, std::string& name);

// "auto", then every method there is.
std::vector<std::string> method_names();
// What is wrong with such a name of a method, "" if nothing; says if it was left out of this build.
std::string method_problem(std::string_view name);
std::string method_help();
// The steps of `auto` that are no method of their own: lines of a list, name and what it does.
std::string step_help();
// What the step of `auto` does that a placement names as what found it; "" if it names none.
std::string what_found(std::string_view method);
// Whether the method of that name does more with a budget.
bool takes_budget(std::string_view name);

// As long as the choice says, from now on.
Watch watch_for(const MethodChoice& choice);

// Runs the method, that method_problem() finds nothing wrong with. kInfeasible, with the shortfall
// per device, if nothing it finds fits. The result is simulated, even if the placing was stopped.
Result<PlaceResult> run_method(const Problem& problem, const MethodChoice& choice, Watch& watch);
Result<PlaceResult> run_method(const Problem& problem, const MethodChoice& choice);

}  // namespace placeto::cli
