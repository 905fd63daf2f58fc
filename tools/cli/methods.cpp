#include "tools/cli/methods.h"

#include <fmt/format.h>

#include <algorithm>

#include "tools/cli/common.h"
#include "tools/partition/partition.h"

namespace placeto::cli {
namespace {

constexpr std::string_view kAuto = "auto";

// nullptr if there is none of that name, kAuto included.
const Method* find(std::string_view name) {
  for (const Method* method : partition_methods()) {
    if (method->name() == name) return method;
  }
  return find_method(name);
}

}  // namespace

void add_method_options(CLI::App& app, MethodOptions& options) {
  app.add_option_function<std::string>(
         "--passes",
         [&options](const std::string& text) {
           uint64_t value = 0;
           if (!parse_count(text, value) || value == 0 || value > 1'000'000) {
             throw CLI::ValidationError(
                 "--passes", fmt::format("'{}' is not a whole number from 1 to 1000000", text));
           }
           options.passes = static_cast<uint32_t>(value);
         },
         fmt::format("Passes of methods that repeat them (default {})", options.passes))
      ->type_name("N");
  add_number(app, "--budget-ms", options.budget.milliseconds,
             "Search for that long; the answer depends on the machine", 0, 1e12);
  add_count(app, "--budget-evals", options.budget.evaluations, "Search with that many evaluations");
  add_count(app, "--seed", options.seed,
            fmt::format("Of methods that draw at random (default {})", options.seed));
}

std::vector<std::string> method_names() {
  std::vector<std::string> names{std::string(kAuto)};
  for (const Method* method : builtin_methods()) names.emplace_back(method->name());
  for (const Method* method : partition_methods()) names.emplace_back(method->name());
  return names;
}

void check_method(std::string_view name) {
  if (name == kAuto || find(name) != nullptr) return;
  const auto optional = partition_method_names();
  if (std::find(optional.begin(), optional.end(), name) != optional.end()) {
    throw Failure(kBadUsage, fmt::format("method '{}' is not in this build: its library was not "
                                         "installed when placeto was built",
                                         name));
  }
  throw Failure(kBadUsage, fmt::format("no method '{}', expected one of {}", name,
                                       fmt::join(method_names(), ", ")));
}

std::string method_help() {
  std::string text =
      "How to place:\n  auto: the best of the heuristics, then a search if a budget "
      "is given (default)";
  const auto add = [&text](const Method* method) {
    text += fmt::format("\n  {}: {}", method->name(), method->summary());
  };
  for (const Method* method : builtin_methods()) add(method);
  for (const Method* method : partition_methods()) add(method);
  return text;
}

Result<PlaceResult> run_method(const Problem& problem, const MethodChoice& choice) {
  if (choice.name == kAuto) return place_auto(problem, choice.options);
  return place_with(problem, *find(choice.name), choice.options);
}

}  // namespace placeto::cli
